# SPDX-License-Identifier: MIT
# The system's libgc, which collectors/boehm puts behind the plug-in interface.  Linked statically: what
# OSS-Fuzz runs has no libgc.
option(ISOHEAP_BOEHM "The Boehm-Demers-Weiser collector (Debian: libgc-dev)" ON)
find_package(Threads REQUIRED)
if(NOT ISOHEAP_BOEHM)
    set(ISOHEAP_GC_LIBRARIES Threads::Threads ${CMAKE_DL_LIBS})
    return()
endif()
find_path(ISOHEAP_GC_INCLUDE gc/gc.h DOC "Headers of the Boehm-Demers-Weiser collector")
find_library(ISOHEAP_GC_LIBRARY NAMES libgc.a gc DOC "The Boehm-Demers-Weiser collector")
if(NOT ISOHEAP_GC_INCLUDE OR NOT ISOHEAP_GC_LIBRARY)
    message(FATAL_ERROR "collectors/boehm needs libgc: install libgc-dev (scripts/install.sh), or configure with -DISOHEAP_BOEHM=OFF")
endif()
file(STRINGS "${ISOHEAP_GC_INCLUDE}/gc/gc.h" manual_barrier REGEX GC_set_manual_vdb_allowed)
if(NOT manual_barrier)
    message(FATAL_ERROR "collectors/boehm needs libgc 8.2 or newer; ${ISOHEAP_GC_INCLUDE}/gc/gc.h is older")
endif()
set(ISOHEAP_GC_LIBRARIES "${ISOHEAP_GC_LIBRARY}" Threads::Threads ${CMAKE_DL_LIBS})
