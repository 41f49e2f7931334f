# SPDX-License-Identifier: MIT
# The source tree of OCaml whose runtime is compiled as a collector: ISOHEAP_OCAML_SOURCE, or else
# Debian's package ocaml-source, unpacked below the build folder.
#
#   cmake -DTREE=DIR -P IsoheapOcamlTree.cmake      says what a tree is, or why it is refused, and
#                                                   which collectors it makes; without TREE: Debian's
#
# Nothing is written to a tree.  One that is configured has the headers m.h and s.h; for another they
# are made here from its m.h.in and s.h.in.  A change of any file in it runs CMake again.

# isoheap_ocaml_version(tree version problem): of a folder, its version as in its file VERSION, or why
# it is not taken.  One of the two results is empty.
function(isoheap_ocaml_version tree version problem)
    set(${version} "" PARENT_SCOPE)
    if(NOT IS_DIRECTORY "${tree}")
        set(${problem} "${tree} is no folder" PARENT_SCOPE)
        return()
    endif()
    execute_process(COMMAND ls "${tree}/" OUTPUT_QUIET ERROR_VARIABLE error RESULT_VARIABLE status)
    if(status EQUAL 0 AND NOT EXISTS "${tree}/VERSION")
        set(${problem} "${tree} is no source tree of OCaml: it has no file VERSION" PARENT_SCOPE)
        return()
    endif()
    execute_process(COMMAND cat "${tree}/VERSION" OUTPUT_VARIABLE text ERROR_VARIABLE error RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        string(STRIP "${error}" error)
        set(${problem} "${tree} cannot be read: ${error}" PARENT_SCOPE)
        return()
    endif()
    string(REGEX MATCH "^[^\r\n]*" line "${text}")
    if(NOT line MATCHES "^[0-9]+\\.[0-9]+")
        set(${problem} "${tree}/VERSION begins with no version of OCaml, but with \"${line}\"" PARENT_SCOPE)
    elseif(NOT line MATCHES "^(4\\.1[234]|5\\.[13])\\.[0-9]+")
        set(${problem} "${tree} is OCaml ${line}, which has another runtime; isoheap takes 4.12 to 4.14, 5.1 and 5.3" PARENT_SCOPE)
    elseif(NOT EXISTS "${tree}/runtime/major_gc.c")
        set(${problem} "${tree} has no runtime/major_gc.c: is it all of OCaml's source tree?" PARENT_SCOPE)
    else()
        set(${problem} "" PARENT_SCOPE)
        set(${version} "${line}" PARENT_SCOPE)
    endif()
endfunction()

# isoheap_ocaml_builds(version builds): in which ways the runtime of that version is built.
function(isoheap_ocaml_builds version builds)
    if(version MATCHES "^4\\.")
        set(${builds} release debug tiny nnp native PARENT_SCOPE)
    elseif(version MATCHES "^5\\.1\\.") # collectors/ocaml5/domains/ knows the files of 5.3
        set(${builds} release debug tiny PARENT_SCOPE)
    else()
        set(${builds} release debug tiny domains domains_debug PARENT_SCOPE)
    endif()
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    set(version "4.13.1")
    if(TREE)
        isoheap_ocaml_version("${TREE}" version problem)
    endif()
    if(problem)
        message(FATAL_ERROR "${problem}")
    endif()
    message("OCaml ${version}")
    isoheap_ocaml_builds("${version}" names)
    set(runtime ocaml)
    if(version MATCHES "^5\\.")
        set(runtime ocaml5)
    endif()
    list(TRANSFORM names PREPEND "${runtime}_")
    list(TRANSFORM names REPLACE "_release$" "")
    list(JOIN names " " names)
    message("collectors ${names}")
    return()
endif()

set(ISOHEAP_OCAML_SOURCE "" CACHE STRING
    "Source tree of OCaml 4.12 to 4.14 whose runtime is the collector ocaml; empty: Debian's package ocaml-source")
file(GLOB ISOHEAP_OCAML_ARCHIVE /usr/src/ocaml-source-4.13.*.tar)

# isoheap_ocaml_unpack(archive result): the tree in Debian's package.
function(isoheap_ocaml_unpack archive result)
    set(top "${PROJECT_BINARY_DIR}/ocaml/debian")
    set(${result} "${top}" PARENT_SCOPE)
    if(EXISTS "${top}/VERSION")
        return()
    endif()
    file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${top}/archive")
    file(GLOB inner "${top}/archive/ocaml-4.13.*/*.orig.tar.gz")
    file(ARCHIVE_EXTRACT INPUT "${inner}" DESTINATION "${top}/archive" PATTERNS "*/runtime/*" "*/VERSION")
    file(GLOB version "${top}/archive/ocaml-4.13.*/VERSION")
    get_filename_component(inner "${version}" DIRECTORY)
    file(RENAME "${inner}/runtime" "${top}/runtime")
    file(RENAME "${inner}/VERSION" "${top}/VERSION")
    file(REMOVE_RECURSE "${top}/archive")
endfunction()

# isoheap_ocaml_header(tree name made macro value ...): caml/<name>.h in MADE, from the tree's <name>.h.in:
# macros that are listed have these values, the others are not defined.  As configure does it.
function(isoheap_ocaml_header tree name made)
    set(file "${made}/caml/${name}.h")
    if(EXISTS "${tree}/runtime/caml/${name}.h")
        file(REMOVE "${file}")
        return()
    endif()
    if(NOT EXISTS "${tree}/runtime/caml/${name}.h.in")
        message(FATAL_ERROR "${tree} is not configured, and has no runtime/caml/${name}.h.in")
    endif()
    file(READ "${tree}/runtime/caml/${name}.h.in" text)
    while(ARGN)
        list(POP_FRONT ARGN macro value)
        string(REGEX REPLACE "#undef ${macro}[ \t]*\n" "#define ${macro} ${value}\n" text "${text}")
    endwhile()
    string(REGEX REPLACE "\n#undef [^\n]*" "" text "${text}")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
endfunction()

# What configure finds on Linux with glibc.
set(ISOHEAP_OCAML_SYSTEM
    POSIX_SIGNALS SUPPORT_DYNAMIC_LINKING HAS_C99_FLOAT_OPS HAS_WORKING_FMA HAS_WORKING_ROUND HAS_GETRUSAGE
    HAS_TIMES HAS_SECURE_GETENV HAS_SOCKETS HAS_SOCKLEN_T HAS_INET_ATON HAS_IPV6 HAS_STDINT_H HAS_UNISTD
    HAS_DIRENT HAS_REWINDDIR HAS_LOCKF HAS_MKFIFO HAS_GETCWD HAS_SYSTEM HAS_UTIME HAS_UTIMES HAS_FCHMOD
    HAS_TRUNCATE HAS_SELECT HAS_SYS_SELECT_H HAS_NANOSLEEP HAS_SYMLINK HAS_REALPATH HAS_WAIT4 HAS_WAITPID
    HAS_GETGROUPS HAS_SETGROUPS HAS_INITGROUPS HAS_TERMIOS HAS_SETITIMER HAS_GETHOSTNAME HAS_UNAME
    HAS_GETTIMEOFDAY HAS_MKTIME HAS_SETSID HAS_PUTENV HAS_SETENV_UNSETENV HAS_LOCALE_H HAS_STRTOD_L HAS_MMAP
    HAS_PWRITE HAS_NANOSECOND_STAT HAS_MKSTEMP HAS_NICE HAS_DUP3 HAS_PIPE2 HAS_ACCEPT4 HAS_GETAUXVAL
    HAS_SYS_SHM_H HAS_SHMAT HAS_EXECVPE HAS_POSIX_SPAWN HAS_FFS HAS_STACK_OVERFLOW_DETECTION HAS_SIGWAIT
    HAS_HUGE_PAGES HAS_POSIX_MONOTONIC_CLOCK)

# isoheap_ocaml_headers(tree version made): what the tree lacks of the headers that configure makes.  The
# byte order is not among the macros: cmake/IsoheapOcaml.cmake defines it.
function(isoheap_ocaml_headers tree version made)
    isoheap_ocaml_header("${tree}" m "${made}" ARCH_SIXTYFOUR 1 HAS_ARCH_CODE32 1 SIZEOF_INT 4 SIZEOF_LONG 8
        SIZEOF_PTR 8 SIZEOF_SHORT 2 SIZEOF_LONGLONG 8 PROFINFO_WIDTH 0 CAML_SAFE_STRING 1 FLAT_FLOAT_ARRAY 1
        FUNCTION_SECTIONS 1 SUPPORTS_ALIGNED_ATTRIBUTE 1 SUPPORTS_TREE_VECTORIZE 1)
    list(TRANSFORM ISOHEAP_OCAML_SYSTEM APPEND ";1" OUTPUT_VARIABLE has)
    isoheap_ocaml_header("${tree}" s "${made}" OCAML_OS_TYPE "\"Unix\"" ${has} HUGE_PAGE_SIZE "(4 * 1024 * 1024)")
    set(file "${made}/caml/version.h")
    if(EXISTS "${tree}/runtime/caml/version.h")
        file(REMOVE "${file}")
        return()
    endif()
    string(REGEX MATCH "^4\\.([0-9]+)\\.([0-9]+)" line "${version}")
    math(EXPR number "40000 + ${CMAKE_MATCH_1} * 100 + ${CMAKE_MATCH_2}")
    file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT "#define OCAML_VERSION_MAJOR 4
#define OCAML_VERSION_MINOR ${CMAKE_MATCH_1}
#define OCAML_VERSION_PATCHLEVEL ${CMAKE_MATCH_2}
#define OCAML_VERSION ${number}
#define OCAML_VERSION_STRING \"${version}\"
")
endfunction()

# isoheap_ocaml_tree(tree version problem): the tree of this build, or why there is none.
function(isoheap_ocaml_tree tree version problem)
    set(remedy "scripts/install.sh installs Debian's, -DISOHEAP_OCAML_SOURCE=DIR names another, -DISOHEAP_OCAML=OFF leaves the collector out")
    if(ISOHEAP_OCAML_SOURCE)
        get_filename_component(folder "${ISOHEAP_OCAML_SOURCE}" REALPATH BASE_DIR "${CMAKE_SOURCE_DIR}")
    elseif(ISOHEAP_OCAML_ARCHIVE)
        isoheap_ocaml_unpack("${ISOHEAP_OCAML_ARCHIVE}" folder)
    else()
        set(${problem} "the package ocaml-source with OCaml 4.13 is not here (${remedy})" PARENT_SCOPE)
        return()
    endif()
    isoheap_ocaml_version("${folder}" line why)
    if(why)
        message(FATAL_ERROR "The collector ocaml cannot be built: ${why} (${remedy})")
    endif()
    file(GLOB files CONFIGURE_DEPENDS "${folder}/VERSION" "${folder}/runtime/*.c" "${folder}/runtime/*.h"
        "${folder}/runtime/caml/*")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${files}")
    set(${problem} "" PARENT_SCOPE)
    set(${tree} "${folder}" PARENT_SCOPE)
    set(${version} "${line}" PARENT_SCOPE)
endfunction()
