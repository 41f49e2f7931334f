# SPDX-License-Identifier: MIT
# Known-bad collectors (collectors/known_bad/): each source of collectors/ that has defects is compiled
# once more with all of them, as the collector known_bad_<source>; a variable says which one it has
# (collectors/known_bad/switch.c).  The clean builds of the same sources know nothing of it.

# The library isoheap_known_bad, and ISOHEAP_KNOWN_BAD, the defects, from the rows
# X(source, defect, ...) of collectors/faults.def.
function(isoheap_known_bad_collectors)
    set(table "${PROJECT_SOURCE_DIR}/collectors/faults.def")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
    isoheap_library(isoheap_known_bad DIRECTORIES collectors/known_bad
        SEES collectors views LIBRARIES isoheap_collectors isoheap_threads)

    file(READ "${table}" text)
    string(REGEX MATCHALL "\n *X\\([a-z_0-9]+, *[a-z_0-9]+," rows "${text}")
    set(sources "")
    set(defects "")
    foreach(row IN LISTS rows)
        string(REGEX MATCH "X\\(([a-z_0-9]+), *([a-z_0-9]+)," row "${row}")
        list(APPEND sources ${CMAKE_MATCH_1})
        list(APPEND defects ${CMAKE_MATCH_2})
    endforeach()
    list(REMOVE_DUPLICATES sources)
    if(NOT ISOHEAP_BOEHM)
        list(REMOVE_ITEM sources boehm)
        list(FILTER defects EXCLUDE REGEX "^boehm_")
    endif()
    foreach(source IN LISTS sources)
        isoheap_known_bad_source(${source})
    endforeach()
    set(ISOHEAP_KNOWN_BAD "${defects}" PARENT_SCOPE)
endfunction()

# One compilation for a source of several files, which share all their headers.
function(isoheap_known_bad_source source)
    file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/collectors/${source}/*.c")
    add_library(known_bad_${source} OBJECT ${files})
    target_compile_definitions(known_bad_${source} PRIVATE $<$<NOT:$<BOOL:${ISOHEAP_BOEHM}>>:ISOHEAP_NO_BOEHM>
        ISOHEAP_FAULT=known_bad_fault ISOHEAP_COLLECTOR=known_bad_${source})
    isoheap_flags(known_bad_${source} INSTRUMENTED SEES collectors ${model_code})
    set_target_properties(known_bad_${source} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    target_sources(isoheap_known_bad PRIVATE $<TARGET_OBJECTS:known_bad_${source}>)
endfunction()
