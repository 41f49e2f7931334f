# SPDX-License-Identifier: MIT
# Seeded faults: a shared object for every faults/<collector>/<name>.patch, <build>/faults/<collector>/<name>.so
# (docs/evaluation.md).  Only the files that a patch changes are copied; all others are those of the
# source tree, so that a fault is the collector of today with one thing wrong.
#
# Most patches change the insides of functions alone.  Those of a collector share one object,
# merged.so, which has a copy of each function for each fault that changes it (merge_faults.py), and
# to which their names are links; the name says which fault it is.

find_program(ISOHEAP_PATCH patch DOC "Applies the patches of seeded faults")
find_program(ISOHEAP_PYTHON python3 DOC "Merges seeded faults")
set(ISOHEAP_MERGE "${PROJECT_SOURCE_DIR}/cmake/merge_faults.py")

function(isoheap_faults)
    file(GLOB patches CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/faults" "${PROJECT_SOURCE_DIR}/faults/*/*.patch")
    # End-to-end tests use them, which run with clang; whoever runs those with gcc builds `faults` before.
    if(ISOHEAP_TESTS AND NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
        add_custom_target(faults ALL)
    else()
        add_custom_target(faults)
    endif()
    if(NOT ISOHEAP_PATCH)
        message(WARNING "No program `patch`: seeded faults are left out; install patch (scripts/install.sh)")
        return()
    endif()
    if(NOT ISOHEAP_TESTS AND NOT ISOHEAP_FUZZER) # nobody runs them there
        return()
    endif()
    set(alone "${patches}")
    if(ISOHEAP_PYTHON)
        execute_process(COMMAND "${ISOHEAP_PYTHON}" "${ISOHEAP_MERGE}" plan "${PROJECT_SOURCE_DIR}"
            OUTPUT_VARIABLE alone COMMAND_ERROR_IS_FATAL ANY)
        string(REGEX REPLACE "\n" ".patch;" alone "${alone}")
    endif()
    foreach(patch IN LISTS patches)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/faults/${patch}")
        get_filename_component(collector "${patch}" DIRECTORY)
        get_filename_component(name "${patch}" NAME_WE)
        if(patch IN_LIST alone)
            isoheap_fault("${collector}" "${name}" "${name}")
        else()
            list(APPEND collectors ${collector})
            list(APPEND merged_${collector} ${name})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES collectors)
    foreach(collector IN LISTS collectors)
        isoheap_fault("${collector}" merged "${merged_${collector}}")
    endforeach()
endfunction()

# Sets FILES to what the patch changes, as paths under the top of the project.
function(isoheap_patched_files patch result)
    file(STRINGS "${patch}" lines REGEX "^\\+\\+\\+ b/")
    set(files "")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^\\+\\+\\+ b/([^\t ]*).*$" "\\1" file "${line}")
        list(APPEND files "${file}")
    endforeach()
    set(${result} "${files}" PARENT_SCOPE)
endfunction()

# The tests run each fault once or twice: there compiling takes the time.
set(ISOHEAP_FAULT_FLAGS "")
if(ISOHEAP_TESTS)
    set(ISOHEAP_FAULT_FLAGS -O0 -g1)
endif()

function(isoheap_fault_object name source)
    add_library(${name} OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/${source}")
    isoheap_flags(${name} INSTRUMENTED)
    target_compile_options(${name} PRIVATE ${ISOHEAP_FAULT_FLAGS})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
endfunction()

# Sources of the source tree, each compiled once for all shared objects; sets RESULT to the objects.
function(isoheap_fault_parts result)
    set(objects "")
    foreach(source IN LISTS ARGN)
        string(MAKE_C_IDENTIFIER "fault_part_${source}" part)
        if(NOT TARGET ${part})
            isoheap_fault_object(${part} "${source}")
        endif()
        list(APPEND objects $<TARGET_OBJECTS:${part}>)
    endforeach()
    set(${result} "${objects}" PARENT_SCOPE)
endfunction()

# The shared object NAME.so of a collector, with the faults FAULTS: one of that name, or all that are merged.
function(isoheap_fault collector name faults)
    set(out "${PROJECT_BINARY_DIR}/faults/${collector}/${name}.src")
    set(target fault_${collector}_${name})
    set(patches "${faults}")
    list(TRANSFORM patches PREPEND "${PROJECT_SOURCE_DIR}/faults/${collector}/")
    list(TRANSFORM patches APPEND ".patch")
    set(files "")
    foreach(patch IN LISTS patches)
        isoheap_patched_files("${patch}" some)
        list(APPEND files ${some})
    endforeach()
    list(REMOVE_DUPLICATES files)
    list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE originals)
    list(TRANSFORM files PREPEND "${out}/" OUTPUT_VARIABLE patched)
    if(name STREQUAL merged)
        list(APPEND patched "${out}/fault_names.h")
        add_custom_command(OUTPUT ${patched}
            COMMAND "${ISOHEAP_PYTHON}" "${ISOHEAP_MERGE}" merge "${PROJECT_SOURCE_DIR}" "${out}" ${collector} ${faults}
            DEPENDS ${patches} ${originals} "${ISOHEAP_MERGE}"
            COMMENT "Merging the seeded faults of ${collector}" VERBATIM)
    else()
        add_custom_command(OUTPUT ${patched}
            COMMAND ${CMAKE_COMMAND} "-DPATCH=${patches}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUT=${out}" "-DFILES=${files}"
                    -P "${PROJECT_SOURCE_DIR}/cmake/ApplyFault.cmake"
            DEPENDS ${patches} ${originals} "${PROJECT_SOURCE_DIR}/cmake/ApplyFault.cmake"
            COMMENT "" VERBATIM)
    endif()

    # The collector's sources: patched where the patch says so.  A patched header is seen by all of
    # them; else the others are compiled once for all faults.
    set(folders "${PROJECT_SOURCE_DIR}/collectors/${collector}/*.c")
    if(collector STREQUAL onthefly)
        set(folders "${PROJECT_SOURCE_DIR}/models/onthefly/*.c" "${PROJECT_SOURCE_DIR}/models/onthefly/*/*.c")
    endif()
    file(GLOB sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" ${folders})
    list(REMOVE_ITEM sources ${files})
    if("${files}" MATCHES "\\.h(;|$)")
        list(TRANSFORM sources PREPEND "${PROJECT_SOURCE_DIR}/")
        set(parts "")
    else()
        isoheap_fault_parts(parts ${sources})
        set(sources "")
    endif()
    # The on-the-fly model stands alone, and is no collector of the plug-in interface.
    set(glue fuzz/faults/glue.c)
    file(GLOB common CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/collectors/*.c")
    if(collector STREQUAL onthefly)
        set(glue fuzz/faults/schedules.c)
        set(common "")
    endif()
    list(REMOVE_ITEM common ${files})
    isoheap_fault_parts(shared ${common})
    add_library(${target} MODULE EXCLUDE_FROM_ALL ${sources} ${patched} ${parts} ${shared} "${PROJECT_SOURCE_DIR}/${glue}")
    target_compile_definitions(${target} PRIVATE ISOHEAP_FAULT_SUBJECT=${collector})
    if(name STREQUAL merged)
        list(LENGTH faults numbers)
        target_compile_definitions(${target} PRIVATE ISOHEAP_FAULT_NAMES="fault_names.h" FAULT_NUMBERS=${numbers})
    endif()
    target_include_directories(${target} BEFORE PRIVATE "${out}")
    isoheap_flags(${target} INSTRUMENTED)
    target_compile_options(${target} PRIVATE ${ISOHEAP_FAULT_FLAGS} -include faults/canary.h
        -w) # what is wrong is odd on purpose
    set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME "${name}" C_VISIBILITY_PRESET hidden
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/faults/${collector}")
    add_dependencies(faults ${target})
endfunction()
