# SPDX-License-Identifier: MIT
# One compilation for a folder instead of one for each file (ISOHEAP_UNITY).
#
# Half of the time that a compiler takes for a small file is its own start and the system's headers.
# Where folders are compiled whole, the names that files keep to themselves (static) are distinct within
# their folder (tests/house/house.py sees variables that would become one).  The preset gcc compiles each
# file alone, so that each includes what it uses.

# isoheap_unity(TARGET [EXCEPT regex]): compiles the sources of TARGET that lie in one folder together, but
# for those whose path matches: modules that answer the same calls, each in functions of the same names.
#
# Features of the C library are those of the first file of a batch, so a batch asks for all of them.
function(isoheap_unity target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCEPT" "")
    if(NOT ISOHEAP_UNITY)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    if(arg_EXCEPT)
        list(FILTER sources EXCLUDE REGEX "${arg_EXCEPT}")
    endif()
    foreach(source IN LISTS sources)
        get_filename_component(folder "${source}" DIRECTORY)
        file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${folder}")
        string(MAKE_C_IDENTIFIER "${target}_${folder}" group)
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${group})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE=)
    target_compile_options(${target} PRIVATE -Wno-shadow) # of another file's name
endfunction()
