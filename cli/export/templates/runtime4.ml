(* ---- what OCaml 4 has ---- *)

let forward v x =
  if Obj.is_block v && Obj.tag v = Obj.lazy_tag then begin
    Obj.set_field v 0 x;
    (Obj.set_tag [@ocaml.warning "-3"]) v Obj.forward_tag
  end
let truncate v n =
  let v = through v in
  if scanned v then (Obj.truncate [@ocaml.warning "-3"]) v (1 + (n mod Obj.size v))
let slice words = ignore (Gc.major_slice words)
let settle _ = ()

