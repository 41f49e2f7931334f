# SPDX-License-Identifier: MIT
# The system's libgc, which collectors/boehm puts behind the plug-in interface.  Linked statically: what
# OSS-Fuzz runs has no libgc.
find_path(ISOHEAP_GC_INCLUDE gc/gc.h DOC "Headers of the Boehm-Demers-Weiser collector")
find_library(ISOHEAP_GC_LIBRARY NAMES libgc.a gc DOC "The Boehm-Demers-Weiser collector")
if(NOT ISOHEAP_GC_INCLUDE OR NOT ISOHEAP_GC_LIBRARY)
    message(FATAL_ERROR "collectors/boehm needs libgc: install libgc-dev (scripts/install.sh)")
endif()
find_package(Threads REQUIRED)
set(ISOHEAP_GC_LIBRARIES "${ISOHEAP_GC_LIBRARY}" Threads::Threads ${CMAKE_DL_LIBS})
