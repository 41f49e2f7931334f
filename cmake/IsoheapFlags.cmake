# SPDX-License-Identifier: MIT
# Compiler flags: the language, the warnings, and who is instrumented with what.
#
# Two kinds of code are built.  *Instrumented* code is what is under test: the collectors and the
# decoder; it carries the sanitizers and, for libFuzzer, the coverage counters.  Everything else
# watches: in a fuzz build it carries neither (ISOHEAP_INSTRUMENT_HARNESS=OFF), because counters
# there teach the fuzzer nothing and the checks of a checker cost most of its time.

#
# The installed package includes this file too (ISOHEAP_PACKAGE): language and warnings are then the
# user's own business.

set(ISOHEAP_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")
if(NOT ISOHEAP_PACKAGE)
    set(CMAKE_C_STANDARD 17)
    set(CMAKE_C_STANDARD_REQUIRED ON)
    set(CMAKE_C_EXTENSIONS OFF)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

# OSS-Fuzz and its relatives bring flags, engine and linker of their own.
set(ISOHEAP_ENGINE "$ENV{LIB_FUZZING_ENGINE}" CACHE STRING "Fuzzing engine to link (OSS-Fuzz); set from LIB_FUZZING_ENGINE")
if(ISOHEAP_ENGINE)
    enable_language(CXX) # fuzz targets are linked by it, and nothing else is
    set(CMAKE_CXX_STANDARD_LIBRARIES "${ISOHEAP_ENGINE}") # the end of their command lines
    set(ISOHEAP_SANITIZE "off")
    set(ISOHEAP_WERROR OFF)
elseif(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
endif()
# Our assertions are part of the product: no build drops them.
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")

set(ISOHEAP_WARNINGS)
if(NOT ISOHEAP_PACKAGE)
    set(ISOHEAP_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef)
endif()
if(ISOHEAP_WERROR)
    list(APPEND ISOHEAP_WARNINGS -Werror)
endif()

if((ISOHEAP_FUZZER OR ISOHEAP_AFL OR ISOHEAP_COVERAGE) AND NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "ISOHEAP_FUZZER, ISOHEAP_AFL and ISOHEAP_COVERAGE need clang, and the C compiler is "
        "${CMAKE_C_COMPILER_ID}: configure with -DCMAKE_C_COMPILER=clang, or use the standalone runners")
endif()

set(ISOHEAP_SANITIZER_FLAGS)
if(ISOHEAP_SANITIZE AND NOT ISOHEAP_SANITIZE STREQUAL "off")
    list(JOIN ISOHEAP_SANITIZE "," sanitizers)
    if("undefined" IN_LIST ISOHEAP_SANITIZE) # clang's has it, gcc's has not
        string(APPEND sanitizers ",float-cast-overflow")
    endif()
    set(ISOHEAP_SANITIZER_FLAGS -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    if(ISOHEAP_NO_SANITIZE) # the last one is right: these checks are off
        list(JOIN ISOHEAP_NO_SANITIZE "," checks)
        list(APPEND ISOHEAP_SANITIZER_FLAGS -fno-sanitize=${checks})
    endif()
endif()

# isoheap_sees(TARGET ROOM...): what the target may include from, so that an arrow against the
# architecture does not compile.  A ROOM is a folder under the top of the project with all below it, or
# a pattern for headers alone, such as collectors/*.h.
#
# Includes are written from the top of the project.  The target gets a folder of its own instead of
# that top, with a link to each room; what the compiler writes down names the files as they are.
function(isoheap_sees target)
    set(top "${PROJECT_BINARY_DIR}/sees/${target}")
    file(REMOVE_RECURSE "${top}")
    foreach(room IN LISTS ARGN)
        set(parts "${room}")
        if(room MATCHES "[*]")
            file(GLOB parts CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/${room}")
        endif()
        foreach(part IN LISTS parts)
            get_filename_component(folder "${top}/${part}" DIRECTORY)
            file(MAKE_DIRECTORY "${folder}")
            file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${part}" "${top}/${part}" SYMBOLIC)
        endforeach()
    endforeach()
    target_include_directories(${target} PRIVATE "${top}")
    target_compile_options(${target} PRIVATE "-ffile-prefix-map=${top}=${PROJECT_SOURCE_DIR}")
endfunction()

# isoheap_flags(TARGET [INSTRUMENTED] [SEES room...]): without SEES everything.
function(isoheap_flags target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "INSTRUMENTED" "" "SEES")
    if(arg_SEES)
        isoheap_sees(${target} ${arg_SEES})
    elseif(NOT ISOHEAP_PACKAGE)
        target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
    endif()
    target_compile_options(${target} PRIVATE ${ISOHEAP_WARNINGS})
    if(arg_INSTRUMENTED OR ISOHEAP_INSTRUMENT_HARNESS)
        target_compile_options(${target} PRIVATE ${ISOHEAP_SANITIZER_FLAGS})
    endif()
    if(arg_INSTRUMENTED AND ISOHEAP_AFL)
        target_compile_options(${target} PRIVATE ${ISOHEAP_AFL_COVERAGE})
    elseif(arg_INSTRUMENTED AND ISOHEAP_FUZZER)
        # Counters and no comparison tracing (which fuzzer-no-link adds): bytes decode to operations
        # without magic numbers, and tracing takes half of the time.
        target_compile_options(${target} PRIVATE -fsanitize-coverage=inline-8bit-counters,pc-table)
    endif()
    if(ISOHEAP_COVERAGE)
        target_compile_options(${target} PRIVATE -fprofile-instr-generate -fcoverage-mapping)
        target_link_options(${target} PRIVATE -fprofile-instr-generate)
    endif()
    if(NOT arg_INSTRUMENTED AND ISOHEAP_ENGINE)
        isoheap_without_coverage(${target})
    endif()
    target_link_options(${target} PRIVATE ${ISOHEAP_SANITIZER_FLAGS})
endfunction()

# Under OSS-Fuzz the coverage flags stand in CFLAGS and reach every file; clang can be told to leave
# the harness out.
include(CheckCCompilerFlag)
function(isoheap_without_coverage target)
    set(list "${ISOHEAP_CMAKE_DIR}/not-covered.txt")
    check_c_compiler_flag("-Werror -fsanitize-coverage=trace-pc-guard -fsanitize-coverage-ignorelist=${list}"
        ISOHEAP_HAS_COVERAGE_IGNORELIST)
    if(ISOHEAP_HAS_COVERAGE_IGNORELIST AND "$ENV{CFLAGS}" MATCHES "fuzzer-no-link|sanitize-coverage")
        target_compile_options(${target} PRIVATE "-fsanitize-coverage-ignorelist=${list}")
    endif()
endfunction()

# isoheap_library(NAME [INSTRUMENTED] DIRECTORIES dir... [EXCEPT regex] [SEES room...] [LIBRARIES lib...])
#
# EXCEPT leaves out files of the folders by name; SEES as in isoheap_sees.
function(isoheap_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "INSTRUMENTED" "EXCEPT" "DIRECTORIES;SEES;LIBRARIES")
    list(TRANSFORM arg_DIRECTORIES APPEND "/*.c")
    file(GLOB sources CONFIGURE_DEPENDS ${arg_DIRECTORIES})
    if(arg_EXCEPT)
        list(FILTER sources EXCLUDE REGEX "${arg_EXCEPT}")
    endif()
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC ${arg_LIBRARIES})
    set(instrumented)
    if(arg_INSTRUMENTED)
        set(instrumented INSTRUMENTED)
    endif()
    isoheap_flags(${name} ${instrumented} SEES ${arg_SEES})
endfunction()

# Threads of a collector that are to be deterministic (collectors/threads/threads.h): the calls in its files are
# renamed, and each edge of theirs is a point.  Engines have functions of that name too, without --wrap.
set(ISOHEAP_THREADS_LINK_OPTION "-Wl,--wrap=__sanitizer_cov_trace_pc")
if(NOT ISOHEAP_PACKAGE)
    set(ISOHEAP_RENAME_HEADER "${PROJECT_SOURCE_DIR}/collectors/threads/rename.h")
endif()
set(ISOHEAP_PREEMPTIBLE_FLAGS -include "${ISOHEAP_RENAME_HEADER}" -fsanitize-coverage=trace-pc)

# isoheap_preemptible_sources(file...): such files of a target of this folder.
function(isoheap_preemptible_sources)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS ${ISOHEAP_PREEMPTIBLE_FLAGS})
endfunction()
