let unit = Obj.repr 0
let mutators = 4

(* Slots are local variables, which are roots as long as something is done with them: what is
   overwritten or left is touched then, and not before. *)
let[@inline never] keep (_ : Obj.t) = ()
let[@inline never] replace (_ : Obj.t) v : Obj.t = v

(* What the slots of each mutator have in the initial heap, and what they have at the end. *)
let given = Array.init mutators (fun _ -> Array.make 32 unit)
let left : (int * Obj.t) list array = Array.make mutators []
let take m slot =
  let v = given.(m).(slot) in
  given.(m).(slot) <- unit;
  v

(* ---- blocks ---- *)

let is_atom v = Obj.is_block v && Obj.size v = 0
let scanned v = Obj.is_block v && not (is_atom v) && Obj.tag v < Obj.no_scan_tag && Obj.tag v <> Obj.closure_tag
let rec through v = if Obj.is_block v && Obj.tag v = Obj.forward_tag then through (Obj.field v 0) else v

let block tag size values =
  let b = Obj.new_block tag size in
  List.iteri (fun i v -> Obj.set_field b i v) values;
  b

(* Mutually recursive functions share a closure; every one but the first is an infix block of it. *)
let closure functions (env : Obj.t list) =
  match functions with
  | 1 -> let rec a x = ignore (Sys.opaque_identity env); a x in Obj.repr a
  | 2 -> let rec a x = ignore (Sys.opaque_identity env); b x and b x = a x in Obj.repr a
  | 3 ->
    let rec a x = ignore (Sys.opaque_identity env); b x and b x = c x and c x = a x in Obj.repr a
  | _ ->
    let rec a x = ignore (Sys.opaque_identity env); b x and b x = c x and c x = d x and d x = a x in
    Obj.repr a

(* Functions take two words each, and a header between them. *)
let entry v k = Obj.add_offset v (Int32.of_int (24 * k))
let infix v k =
  if Obj.is_block v && Obj.tag v = Obj.closure_tag then begin
    let n = ref 1 in
    while Obj.size v >= (3 * !n) + 2 && Obj.tag (entry v !n) = Obj.infix_tag do incr n done;
    entry v (k mod !n)
  end
  else v

let get v i =
  let v = through v in
  if scanned v then Obj.field v (i mod Obj.size v) else unit
let set v i x =
  let v = through v in
  if scanned v then Obj.set_field v (i mod Obj.size v) x
let fill v i n x =
  let v = through v in
  if scanned v then begin
    let size = Obj.size v in
    let i = i mod size in
    for k = i to min size (i + n) - 1 do Obj.set_field v k x done
  end

let rec list n v = if n = 0 then unit else block 0 2 [ v; list (n - 1) v ]
let rec tree n v = if n = 0 then unit else let t = tree (n - 1) v in block 0 3 [ v; t; t ]
let array n v =
  let a = Obj.new_block 0 (max n 1) in
  for i = 0 to n - 1 do Obj.set_field a i (block 0 1 [ v ]) done;
  a

(* ---- what only a runtime has ---- *)

module E = Obj.Ephemeron

let is_ephemeron v = Obj.is_block v && not (is_atom v) && Obj.tag v = Obj.abstract_tag
let with_field v i f =
  let v = through v in
  if is_ephemeron v then
    let e : E.t = Obj.obj v in
    f e (i mod (E.length e + 1))
let weak_set v i x = with_field v i (fun e i -> if i = 0 then E.set_data e x else E.set_key e (i - 1) (through x))
let weak_unset v i = with_field v i (fun e i -> if i = 0 then E.unset_data e else E.unset_key e (i - 1))
let reads = ref []
let weak_read data key v i =
  let found = ref unit in
  with_field v i (fun e i ->
      match if i = 0 then data e else key e (i - 1) with
      | Some x -> found := x
      | None -> ());
  reads := (!found != unit) :: !reads;
  !found
let weak_get v i = weak_read E.get_data E.get_key v i
let weak_copy v i = weak_read E.get_data_copy E.get_key_copy v i
let weak_check v i =
  with_field v i (fun e i -> ignore (if i = 0 then E.check_data e else E.check_key e (i - 1)))
let weak_blit v i w j n =
  with_field v i (fun e i ->
      with_field w j (fun f j ->
          if i = 0 && j = 0 then E.blit_data e f
          else if i > 0 && j > 0 then
            E.blit_key e (i - 1) f (j - 1) (min n (min (E.length e - i + 1) (E.length f - j + 1)))))

let is_array v = scanned v || (Obj.is_block v && not (is_atom v) && Obj.tag v = Obj.double_array_tag)
let is_numbers v = Obj.tag v = Obj.double_array_tag
external array_sub : Obj.t -> int -> int -> Obj.t = "caml_array_sub"
external array_append : Obj.t -> Obj.t -> Obj.t = "caml_array_append"
external array_concat : Obj.t list -> Obj.t = "caml_array_concat"
external obj_with_tag : int -> Obj.t -> Obj.t = "caml_obj_with_tag"
external update_dummy : Obj.t -> Obj.t -> unit = "caml_update_dummy"
external make_forward : Obj.t -> Obj.t = "caml_lazy_make_forward"
let sub v i n =
  let v = through v in
  if is_array v then
    let size = Obj.size v in
    let i = i mod size in
    array_sub v i (max 1 (min n (size - i)))
  else unit
let append v thrice w =
  let v = through v and w = through w in
  if is_array v && is_array w && is_numbers v = is_numbers w then
    if thrice then array_concat [ v; w; v ] else array_append v w
  else unit
let dup v retagged =
  let v = through v in
  if not (Obj.is_block v) || is_atom v then unit
  else if retagged = 0 then Obj.dup v
  else if scanned v then obj_with_tag (retagged - 1) v
  else unit
let update v w =
  let v = through v and w = through w in
  if scanned v && scanned w && Obj.size v = Obj.size w then update_dummy v w
(* A custom block that claims memory outside the heap. *)
let resource words = Obj.repr (Bigarray.Array1.create Bigarray.char Bigarray.c_layout (8 * words))
let finalise v last =
  let v = through v in
  if Obj.is_block v && not (is_atom v) then
    if last then Gc.finalise_last ignore v else Gc.finalise ignore v
(* Unit for what cannot be written. *)
let marshal v unshared : Obj.t =
  match Marshal.to_string v (if unshared then [ Marshal.No_sharing ] else []) with
  | text -> Marshal.from_string text 0
  | exception (Invalid_argument _ | Failure _) -> unit

(* ---- the result ---- *)

(* What the slots reach, and behind it what the ephemerons hold that were met there. *)
let show () =
  let out = Buffer.create 1000 and seen = ref [] and n = ref 0 and ephemerons = Queue.create () in
  let rec word v =
    let v = through v in
    if Obj.is_int v then Buffer.add_string out (string_of_int (Obj.obj v))
    else if is_atom v then Buffer.add_string out (string_of_int (Obj.tag v) ^ "()")
    else
      match List.assq_opt v !seen with
      | Some k -> Buffer.add_string out ("#" ^ string_of_int k)
      | None ->
        seen := (v, !n) :: !seen;
        incr n;
        if Obj.tag v = Obj.closure_tag || Obj.tag v = Obj.infix_tag then
          Buffer.add_string out "closure"
        else if Obj.tag v = Obj.custom_tag then Buffer.add_string out "resource"
        else if is_ephemeron v then begin
          Buffer.add_string out (Printf.sprintf "ephemeron %d" (!n - 1));
          Queue.add (!n - 1, v) ephemerons
        end
        else begin
          Buffer.add_string out (string_of_int (Obj.tag v) ^ "(");
          for i = 0 to Obj.size v - 1 do
            if i > 0 then Buffer.add_char out ' ';
            let number = Obj.tag v = Obj.object_tag && i = 1 && Obj.is_int (Obj.field v 1) in
            if number && (Obj.obj (Obj.field v 1) : int) >= 0 then Buffer.add_string out "number"
            else word (Obj.field v i)
          done;
          Buffer.add_char out ')'
        end
  in
  Array.iteri
    (fun m slots ->
      List.iter
        (fun (i, v) ->
          if v != unit then begin
            if m > 0 then Buffer.add_string out (Printf.sprintf "mutator %d: " m);
            Buffer.add_string out (Printf.sprintf "r%d = " i);
            word v;
            Buffer.add_char out '\n'
          end)
        slots)
    left;
  let reached = Buffer.contents out in
  Buffer.clear out;
  while not (Queue.is_empty ephemerons) do
    let k, e = Queue.pop ephemerons in
    Buffer.add_string out (Printf.sprintf "ephemeron %d =" k);
    for i = 0 to E.length (Obj.obj e) do
      Buffer.add_char out ' ';
      word (weak_get e i)
    done;
    Buffer.add_char out '\n'
  done;
  (reached, Buffer.contents out)

(* When a dead key goes is the collector's choice until a full collection.  So a round in which other
   reads of ephemerons have found something than in the model's is not judged, and that an ephemeron
   holds something else is shown, but is no wrong result of itself. *)
let other_ways = ref 0
let other_ephemerons = ref 0
let judge round (expected_reads, reached, held) =
  let found_reads = List.rev !reads in
  let found_reached, found_held = show () in
  reads := [];
  Array.fill left 0 mutators [];
  let print what =
    Printf.printf "\n%s in round %d\nexpected:\n%s%sfound:\n%s%s%!" what round reached held found_reached
      found_held
  in
  if found_reads <> expected_reads then incr other_ways
  else if found_reached <> reached then begin
    print "wrong result";
    exit 1
  end
  else if found_held <> held then begin
    if !other_ephemerons = 0 then print "ephemerons hold something else";
    incr other_ephemerons
  end
let finish rounds =
  if rounds > 1 then prerr_newline ();
  if !other_ways > 0 then Printf.printf "%d rounds of %d went another way and were not judged\n" !other_ways rounds;
  if !other_ephemerons > 0 then Printf.printf "ephemerons held something else in %d rounds\n" !other_ephemerons;
  print_endline (if !other_ways = rounds then "nothing was judged" else "passed")

