(* ---- what OCaml 5 has ---- *)

external to_forcing : Obj.t -> int = "caml_lazy_update_to_forcing"
external to_forward : Obj.t -> unit = "caml_lazy_update_to_forward"
let forward v x =
  if Obj.is_block v && Obj.tag v = Obj.lazy_tag && to_forcing v = 0 then begin
    Obj.set_field v 0 x;
    to_forward v
  end

(* Blocks are not made shorter: the fields that would go become unit. *)
let truncate v n =
  let v = through v in
  if scanned v then for i = 1 + (n mod Obj.size v) to Obj.size v - 1 do Obj.set_field v i unit done

(* Rounds begin in another state each: with young blocks, or with old ones that have one of the
   three colours that change places with each cycle; and elsewhere in a cycle.  The heap has more
   than the program's blocks here, so that slices are larger in most of them. *)
let scale = ref 1
let slice words = ignore (Gc.major_slice (words * !scale))
let settle round =
  scale := [| 64; 8; 1; 512 |].(round / 4 mod 4);
  if round mod 4 > 0 then begin
    Gc.full_major ();
    for _ = 2 to round mod 4 do Gc.major () done
  end;
  for _ = 1 to round / 16 mod 16 do ignore (Gc.major_slice 200) done

