/* SPDX-License-Identifier: MIT
 *
 * To be included before all else by the files of a collector whose threads are to be deterministic
 * (-include collectors/threads/rename.h): what they call is then ours (threads.h).
 *
 * Names alone, and no include: the system's own headers then declare the functions under the names
 * that are meant, with their types, whatever features a file asks of them.  The linker's --wrap
 * would catch more than the collector: the engine, the sanitizers and the harness, which are linked
 * to the same program, have threads of the system.
 */
#ifndef ISOHEAP_THREADS_RENAME_H
#define ISOHEAP_THREADS_RENAME_H

#define pthread_create           isoheap_pthread_create
#define pthread_join             isoheap_pthread_join
#define pthread_detach           isoheap_pthread_detach
#define pthread_exit             isoheap_pthread_exit
#define pthread_self             isoheap_pthread_self
#define pthread_yield            isoheap_pthread_yield
#define pthread_getattr_np       isoheap_pthread_getattr_np
#define pthread_setname_np       isoheap_pthread_setname_np
#define pthread_once             isoheap_pthread_once
#define pthread_key_create       isoheap_pthread_key_create
#define pthread_key_delete       isoheap_pthread_key_delete
#define pthread_getspecific      isoheap_pthread_getspecific
#define pthread_setspecific      isoheap_pthread_setspecific
#define pthread_mutex_init       isoheap_pthread_mutex_init
#define pthread_mutex_destroy    isoheap_pthread_mutex_destroy
#define pthread_mutex_lock       isoheap_pthread_mutex_lock
#define pthread_mutex_trylock    isoheap_pthread_mutex_trylock
#define pthread_mutex_timedlock  isoheap_pthread_mutex_timedlock
#define pthread_mutex_unlock     isoheap_pthread_mutex_unlock
#define pthread_cond_init        isoheap_pthread_cond_init
#define pthread_cond_destroy     isoheap_pthread_cond_destroy
#define pthread_cond_wait        isoheap_pthread_cond_wait
#define pthread_cond_timedwait   isoheap_pthread_cond_timedwait
#define pthread_cond_signal      isoheap_pthread_cond_signal
#define pthread_cond_broadcast   isoheap_pthread_cond_broadcast
#define pthread_rwlock_init      isoheap_pthread_rwlock_init
#define pthread_rwlock_destroy   isoheap_pthread_rwlock_destroy
#define pthread_rwlock_rdlock    isoheap_pthread_rwlock_rdlock
#define pthread_rwlock_tryrdlock isoheap_pthread_rwlock_tryrdlock
#define pthread_rwlock_wrlock    isoheap_pthread_rwlock_wrlock
#define pthread_rwlock_trywrlock isoheap_pthread_rwlock_trywrlock
#define pthread_rwlock_unlock    isoheap_pthread_rwlock_unlock
#define pthread_barrier_init     isoheap_pthread_barrier_init
#define pthread_barrier_destroy  isoheap_pthread_barrier_destroy
#define pthread_barrier_wait     isoheap_pthread_barrier_wait
#define sem_init                 isoheap_sem_init
#define sem_destroy              isoheap_sem_destroy
#define sem_wait                 isoheap_sem_wait
#define sem_trywait              isoheap_sem_trywait
#define sem_timedwait            isoheap_sem_timedwait
#define sem_post                 isoheap_sem_post
#define sem_getvalue             isoheap_sem_getvalue
#define sched_yield              isoheap_sched_yield
#define nanosleep                isoheap_nanosleep
#define clock_nanosleep          isoheap_clock_nanosleep
#define usleep                   isoheap_usleep
#define sleep                    isoheap_sleep

/* C11 */
#define thrd_create   isoheap_thrd_create
#define thrd_join     isoheap_thrd_join
#define thrd_detach   isoheap_thrd_detach
#define thrd_exit     isoheap_thrd_exit
#define thrd_current  isoheap_thrd_current
#define thrd_equal    isoheap_thrd_equal
#define thrd_yield    isoheap_thrd_yield
#define thrd_sleep    isoheap_thrd_sleep
#define call_once     isoheap_call_once
#define tss_create    isoheap_tss_create
#define tss_delete    isoheap_tss_delete
#define tss_get       isoheap_tss_get
#define tss_set       isoheap_tss_set
#define mtx_init      isoheap_mtx_init
#define mtx_destroy   isoheap_mtx_destroy
#define mtx_lock      isoheap_mtx_lock
#define mtx_trylock   isoheap_mtx_trylock
#define mtx_timedlock isoheap_mtx_timedlock
#define mtx_unlock    isoheap_mtx_unlock
#define cnd_init      isoheap_cnd_init
#define cnd_destroy   isoheap_cnd_destroy
#define cnd_wait      isoheap_cnd_wait
#define cnd_timedwait isoheap_cnd_timedwait
#define cnd_signal    isoheap_cnd_signal
#define cnd_broadcast isoheap_cnd_broadcast

/* What fibers have not: the linker says so by these names, instead of a crash later. */
#define pthread_cancel             isoheap_threads_have_no_pthread_cancel
#define pthread_kill               isoheap_threads_have_no_pthread_kill
#define pthread_spin_lock          isoheap_threads_have_no_pthread_spin_lock
#define pthread_mutex_clocklock    isoheap_threads_have_no_pthread_mutex_clocklock
#define pthread_cond_clockwait     isoheap_threads_have_no_pthread_cond_clockwait
#define pthread_rwlock_timedrdlock isoheap_threads_have_no_pthread_rwlock_timedrdlock
#define pthread_rwlock_timedwrlock isoheap_threads_have_no_pthread_rwlock_timedwrlock

#endif
