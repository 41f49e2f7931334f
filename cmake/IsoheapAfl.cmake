# SPDX-License-Identifier: MIT
# AFL++: its runtime, the custom mutator, and the targets of its test.
#
# Targets are compiled by clang itself, with the guards that AFL++'s runtime understands, and not by
# afl-clang-fast: that one instruments whatever it compiles, and here only collectors and decoder
# are to be.  The runtime has the fork server, persistent mode and input in shared memory.

find_library(ISOHEAP_AFL_DRIVER libAFLDriver.a PATHS /usr/lib/afl /usr/local/lib/afl NO_DEFAULT_PATH
    DOC "AFL++'s main function for libFuzzer targets")
find_file(ISOHEAP_AFL_OBJECT afl-compiler-rt.o PATHS /usr/lib/afl /usr/local/lib/afl NO_DEFAULT_PATH
    DOC "AFL++'s runtime")
set(ISOHEAP_AFL_RUNTIME "${ISOHEAP_AFL_DRIVER}" "${ISOHEAP_AFL_OBJECT}")
set(ISOHEAP_AFL_COVERAGE -fsanitize-coverage=trace-pc-guard)
set(ISOHEAP_HAS_AFL FALSE)
if(ISOHEAP_AFL_DRIVER AND ISOHEAP_AFL_OBJECT AND CMAKE_C_COMPILER_ID MATCHES "Clang")
    set(ISOHEAP_HAS_AFL TRUE)
endif()
if(ISOHEAP_AFL AND NOT ISOHEAP_HAS_AFL)
    message(FATAL_ERROR "ISOHEAP_AFL needs AFL++'s runtime in /usr/lib/afl: install afl++ (scripts/install.sh)")
endif()

# isoheap_afl_mutator.so, beside the targets.  It is loaded into afl-fuzz, so that nothing in it is
# instrumented; it needs program/ alone.
function(isoheap_afl_mutator)
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/program/*.c"
        "${PROJECT_SOURCE_DIR}/program/*/*.c")
    add_library(isoheap_afl_mutator MODULE ${sources}
        "${PROJECT_SOURCE_DIR}/fuzz/afl_mutator.c" "${PROJECT_SOURCE_DIR}/fuzz/mutation_choice.c")
    target_include_directories(isoheap_afl_mutator PRIVATE "${PROJECT_SOURCE_DIR}")
    target_compile_options(isoheap_afl_mutator PRIVATE ${ISOHEAP_WARNINGS} -O2)
    isoheap_unity(isoheap_afl_mutator EXCEPT "/reduction/")
    set_target_properties(isoheap_afl_mutator PROPERTIES PREFIX "" C_VISIBILITY_PRESET default
        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
endfunction()

# isoheap_afl_test_target(NAME defect source): a known-bad collector for AFL++ in a build that is not
# for AFL++: collectors and decoder once more, with guards; the rest as this build has it.
function(isoheap_afl_test_target name defect source)
    isoheap_collector_glue(glue ${name} bad_${defect} "")
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/collectors/*.c"
        "${PROJECT_SOURCE_DIR}/collectors/cheney/*.c" "${PROJECT_SOURCE_DIR}/program/bytes/*.c")
    add_library(${name}_reference OBJECT ${sources})
    add_library(${name}_subject OBJECT "${PROJECT_SOURCE_DIR}/collectors/${source}/${source}.c")
    target_compile_definitions(${name}_subject PRIVATE
        ISOHEAP_FAULT=FAULT_${defect} ISOHEAP_COLLECTOR=bad_${defect})
    foreach(part ${name}_reference ${name}_subject)
        isoheap_flags(${part} INSTRUMENTED)
        target_compile_options(${part} PRIVATE ${ISOHEAP_AFL_COVERAGE})
    endforeach()
    add_executable(${name} "${glue}" $<TARGET_OBJECTS:${name}_subject> $<TARGET_OBJECTS:${name}_reference>)
    target_link_libraries(${name} PRIVATE isoheap_target ${ISOHEAP_AFL_RUNTIME})
    isoheap_flags(${name})
endfunction()
