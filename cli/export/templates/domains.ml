(* ---- whose turn it is ---- *)

(* The script is a row of turns.  Whoever has none polls, or is in a blocking section, where its
   backup thread answers for it. *)
let turn = Atomic.make 0
let lock = Mutex.create ()
let changed = Condition.create ()
let await_polling n = while Atomic.get turn < n do Domain.cpu_relax () done
let await_blocked n =
  Mutex.lock lock;
  while Atomic.get turn < n do Condition.wait changed lock done;
  Mutex.unlock lock
let next () =
  Mutex.lock lock;
  Atomic.incr turn;
  Condition.broadcast changed;
  Mutex.unlock lock

let domains : unit Domain.t option array = Array.make mutators None
let start m life =
  let guarded () =
    try life () with e ->
      prerr_endline (Printexc.to_string e);
      exit 2
  in
  domains.(m) <- Some (Domain.spawn guarded)
let join m =
  Option.iter Domain.join domains.(m);
  domains.(m) <- None

