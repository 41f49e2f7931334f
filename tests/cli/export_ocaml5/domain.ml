(* SPDX-License-Identifier: MIT

   Stands in for the module of OCaml 5 where there is an older one: a thread for each domain, one of
   which runs at a time. *)
type 'a t = { thread : Thread.t; result : 'a option ref }
let spawn body =
  let result = ref None in
  { thread = Thread.create (fun () -> result := Some (body ())) (); result }
let join d =
  Thread.join d.thread;
  match !(d.result) with Some v -> v | None -> failwith "a domain without a result"
let cpu_relax () = Thread.yield ()
