# SPDX-License-Identifier: MIT
# Known-bad collectors: sources of collectors/ compiled once more with one defect switched on
# (collectors/faults.h).

# isoheap_add_known_bad(NAME symbol SOURCES file... [DEFINITIONS def...])
#
# Compiles the sources with these definitions into isoheap_known_bad.  NAME is the symbol of the
# resulting `const struct collector`.
function(isoheap_add_known_bad)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;DEFINITIONS")
    add_library(${arg_NAME} OBJECT ${arg_SOURCES})
    target_compile_definitions(${arg_NAME} PRIVATE ${arg_DEFINITIONS})
    isoheap_flags(${arg_NAME} INSTRUMENTED)
    if(ISOHEAP_TESTS) # compiling a hundred of them takes longer than running them
        target_compile_options(${arg_NAME} PRIVATE -O1 -g1)
    endif()
    # One compilation each: there are many, and their files share all their headers.
    set_target_properties(${arg_NAME} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    target_sources(isoheap_known_bad PRIVATE $<TARGET_OBJECTS:${arg_NAME}>)
    set_property(GLOBAL APPEND PROPERTY ISOHEAP_KNOWN_BAD ${arg_NAME})
endfunction()

# The library of all of them: one for every row X(source, defect, ...) of collectors/known_bad/table.h,
# so that a row is all that a new one needs.
function(isoheap_known_bad_collectors)
    set(table "${PROJECT_SOURCE_DIR}/collectors/known_bad/table.h")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
    file(GLOB sources CONFIGURE_DEPENDS collectors/known_bad/*.c)
    add_library(isoheap_known_bad STATIC ${sources})
    target_link_libraries(isoheap_known_bad PUBLIC isoheap_collectors)
    isoheap_flags(isoheap_known_bad)

    file(READ "${table}" text)
    string(REGEX MATCHALL "\n *X\\([a-z_0-9]+, *[a-z_0-9]+," rows "${text}")
    foreach(row IN LISTS rows)
        string(REGEX MATCH "X\\(([a-z_0-9]+), *([a-z_0-9]+)," row "${row}")
        set(source ${CMAKE_MATCH_1})
        set(defect ${CMAKE_MATCH_2})
        file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/collectors/${source}/*.c")
        isoheap_add_known_bad(NAME bad_${defect} SOURCES ${files}
            DEFINITIONS ISOHEAP_FAULT=FAULT_${defect} ISOHEAP_COLLECTOR=bad_${defect})
    endforeach()
endfunction()
