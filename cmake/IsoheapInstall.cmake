# SPDX-License-Identifier: MIT
# What `cmake --install` installs for people with a collector of their own (docs/plug-in.md): one
# static library and one of deterministic threads, the headers, the glue and the seeds of fuzz targets, a CMake package, files for pkg-config.
#
# The library is as this build is.  Without sanitizers (preset release) it fits users with any of them
# but MemorySanitizer, which wants everything compiled for it: install the preset msan for that.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(ISOHEAP_VERSION "${PROJECT_VERSION}")
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/isoheap")
set(share_dir "${CMAKE_INSTALL_DATADIR}/isoheap")

# The library's own names do not meet its user's: each part of it is linked into one object, of which only the
# names of exported-names.txt stay global.
if(NOT ISOHEAP_OBJCOPY)
    message(FATAL_ERROR "The library that is installed is made with objcopy, which is not here: install binutils")
endif()
function(isoheap_sealed_object out)
    add_custom_command(OUTPUT "${out}"
        COMMAND ${CMAKE_LINKER} -r -o "${out}" ${ARGN}
        COMMAND ${ISOHEAP_OBJCOPY} --wildcard "--keep-global-symbols=${PROJECT_SOURCE_DIR}/cmake/exported-names.txt" "${out}"
        DEPENDS ${ARGN} "${PROJECT_SOURCE_DIR}/cmake/exported-names.txt"
        COMMENT "Sealing ${out}"
        COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties("${out}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
endfunction()

# The reference and the helpers go into plug-ins too: an object of their own, and position independent.
add_library(isoheap_reference OBJECT collectors/arena.c collectors/contract.c collectors/literals.c collectors/sections.c
    collectors/shadow.c collectors/cheney/cheney.c)
set_target_properties(isoheap_reference PROPERTIES POSITION_INDEPENDENT_CODE ON)
isoheap_flags(isoheap_reference)

set(objects)
foreach(part isoheap_program isoheap_mutation isoheap_views isoheap_oracles isoheap_switch isoheap_harness isoheap_target)
    list(APPEND objects $<TARGET_OBJECTS:${part}>)
endforeach()
set(sealed "${PROJECT_BINARY_DIR}/sealed_reference.o" "${PROJECT_BINARY_DIR}/sealed_harness.o")
isoheap_sealed_object("${PROJECT_BINARY_DIR}/sealed_reference.o" $<TARGET_OBJECTS:isoheap_reference>)
isoheap_sealed_object("${PROJECT_BINARY_DIR}/sealed_harness.o" ${objects})
add_library(isoheap_package STATIC ${sealed})
set_target_properties(isoheap_package PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME isoheap EXPORT_NAME isoheap)
target_include_directories(isoheap_package INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/isoheap>")
target_link_options(isoheap_package INTERFACE ${ISOHEAP_SANITIZER_FLAGS})
if(ISOHEAP_COVERAGE)
    target_link_options(isoheap_package INTERFACE -fprofile-instr-generate)
endif()

# Deterministic threads go into plug-ins, and into whatever else the collector is linked to: a library of their own.
isoheap_sealed_object("${PROJECT_BINARY_DIR}/sealed_threads.o" $<TARGET_OBJECTS:isoheap_threads> $<TARGET_OBJECTS:isoheap_switch>)
add_library(isoheap_threads_package STATIC "${PROJECT_BINARY_DIR}/sealed_threads.o")
set_target_properties(isoheap_threads_package PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME isoheap_threads EXPORT_NAME threads
    ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/package")
target_include_directories(isoheap_threads_package INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/isoheap>")
target_link_options(isoheap_threads_package INTERFACE "${ISOHEAP_THREADS_LINK_OPTION}" ${ISOHEAP_SANITIZER_FLAGS})

# The presets build less than what is installed, and what was built once may be older than its sources: all of it is
# brought up to date when somebody installs.  One who may not write here, root on another machine's disk say, gets what
# there is.
add_custom_target(install_parts)
add_dependencies(install_parts isoheap isoheap_package isoheap_threads_package isoheap_afl_mutator isoheap_manual)
install(CODE "
set(missing \"\")
foreach(part \"$<TARGET_FILE:isoheap>\" \"$<TARGET_FILE:isoheap_package>\" \"$<TARGET_FILE:isoheap_threads_package>\"
        \"$<TARGET_FILE:isoheap_afl_mutator>\"
        \"${PROJECT_BINARY_DIR}/isoheap.1\" \"${PROJECT_BINARY_DIR}/isoheap.bash\")
    if(NOT EXISTS \"\${part}\")
        set(missing \"\${part}\")
    endif()
endforeach()
execute_process(COMMAND \"${CMAKE_COMMAND}\" -E touch \"${PROJECT_BINARY_DIR}/.install\" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(status EQUAL 0)
    file(REMOVE \"${PROJECT_BINARY_DIR}/.install\")
    message(STATUS \"Building what is to be installed and is not there, or older than its sources\")
    execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${PROJECT_BINARY_DIR}\" --target install_parts RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR \"isoheap: what is to be installed does not build; to see why: \"
            \"cmake --build ${PROJECT_BINARY_DIR} --target install_parts\")
    endif()
elseif(missing)
    message(FATAL_ERROR \"isoheap: \${missing} is not built, and ${PROJECT_BINARY_DIR} cannot be written; where it can: \"
        \"cmake --build ${PROJECT_BINARY_DIR} --target install_parts\")
else()
    message(STATUS \"${PROJECT_BINARY_DIR} cannot be written: what is there is installed, whatever has changed since\")
endif()")

set_target_properties(isoheap PROPERTIES EXPORT_NAME command)
install(TARGETS isoheap_package isoheap_threads_package isoheap EXPORT isoheapTargets ARCHIVE RUNTIME)
install(EXPORT isoheapTargets NAMESPACE isoheap:: DESTINATION "${package_dir}")
install(TARGETS isoheap_afl_mutator LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/isoheap")

# Headers: the plug-in interface, what declares the names above, and what these include.
function(isoheap_with_includes result)
    set(waiting ${ARGN})
    set(found)
    while(waiting)
        list(POP_FRONT waiting header)
        if(header IN_LIST found OR NOT EXISTS "${PROJECT_SOURCE_DIR}/${header}")
            continue() # the build writes some
        endif()
        list(APPEND found "${header}")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${header}")
        file(STRINGS "${PROJECT_SOURCE_DIR}/${header}" lines REGEX "^#include \"")
        list(TRANSFORM lines REPLACE "^#include \"([^\"]*)\".*" "\\1")
        list(APPEND waiting ${lines})
    endwhile()
    set(${result} ${found} PARENT_SCOPE)
endfunction()
isoheap_with_includes(headers collectors/arena.h collectors/contract.h collectors/decisions.h collectors/edges.h collectors/literals.h
    collectors/plugin.h collectors/sections.h collectors/shadow.h collectors/words_copy.h collectors/cheney/cheney.h
    collectors/threads/plug.h collectors/threads/rename.h collectors/threads/threads.h collectors/tower/levels.h fuzz/collector_target.h
    fuzz/current.h fuzz/mutation_choice.h harness/harness.h
    program/program.h program/random.h program/bytes/bytes.h program/text/text.h program/mutation/mutate.h
    program/reduction/reduce.h)
foreach(header IN LISTS headers)
    get_filename_component(folder "${header}" DIRECTORY)
    install(FILES "${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/isoheap/${folder}")
endforeach()
install(FILES "${ISOHEAP_GENERATED}/collectors/interface_hash.h"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/isoheap/collectors")

foreach(file edges.c standalone.c libfuzzer_mutator.c mutation_choice.c collector_target.c.in plugin.c.in default.dict
        default.options)
    install(FILES fuzz/${file} DESTINATION "${share_dir}/fuzz")
endforeach()
install(DIRECTORY seeds/mark_sweep/ DESTINATION "${share_dir}/seeds" FILES_MATCHING PATTERN "*.txt")

# --- the CMake package and pkg-config --------------------------------------------------------------

set(ISOHEAP_INSTALL_FUZZ "${share_dir}/fuzz")
set(ISOHEAP_INSTALL_SEEDS "${share_dir}/seeds")
set(ISOHEAP_INSTALL_RENAME "${CMAKE_INSTALL_INCLUDEDIR}/isoheap/collectors/threads/rename.h")
configure_package_config_file(cmake/isoheapConfig.cmake.in "${PROJECT_BINARY_DIR}/isoheapConfig.cmake"
    INSTALL_DESTINATION "${package_dir}"
    PATH_VARS ISOHEAP_INSTALL_FUZZ ISOHEAP_INSTALL_SEEDS ISOHEAP_INSTALL_RENAME CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/isoheapConfigVersion.cmake"
    VERSION ${ISOHEAP_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/isoheapConfig.cmake" "${PROJECT_BINARY_DIR}/isoheapConfigVersion.cmake"
    cmake/IsoheapFlags.cmake cmake/IsoheapTarget.cmake cmake/IsoheapAfl.cmake cmake/PackSeeds.cmake
    cmake/not-covered.txt
    DESTINATION "${package_dir}")
list(JOIN ISOHEAP_SANITIZER_FLAGS " " ISOHEAP_PC_SANITIZERS)
# The prefix of --install may be another one than that of the configuration: relative to the file.
file(RELATIVE_PATH ISOHEAP_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/isoheap.pc.in "${PROJECT_BINARY_DIR}/isoheap.pc" @ONLY)
set(pc_files)
foreach(package isoheap isoheap_edges isoheap_threads)
    configure_file(cmake/${package}.pc.in "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
    list(APPEND pc_files "${PROJECT_BINARY_DIR}/${package}.pc")
endforeach()
install(FILES ${pc_files} DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
