# SPDX-License-Identifier: MIT
# The garbage collector of the OCaml 5 runtime as a collector: as IsoheapOcaml.cmake has it for OCaml 4.
#
# Its sources come from ISOHEAP_OCAML5_SOURCE, or else from build/ocaml-source, where scripts/install.sh puts
# the release that npm has.  Where there are none the collector is left out.

set(ISOHEAP_OCAML5_DEFAULT "${PROJECT_SOURCE_DIR}/build/ocaml-source/5.3.0")
set(ISOHEAP_OCAML5_SOURCE "" CACHE STRING
    "Source tree of OCaml 5 whose runtime is the collector ocaml5; empty: the one that scripts/install.sh has fetched")
set(ISOHEAP_OCAML5_VARIANTS "release;debug" CACHE STRING
    "Builds of the OCaml 5 runtime in one domain: release, debug (its own assertions and checks of the heap)")
option(ISOHEAP_OCAML5_DOMAINS "The OCaml 5 runtime with a domain for each mutator" ON)
set(ISOHEAP_OCAML5_BUILDS ${ISOHEAP_OCAML5_VARIANTS})
if(ISOHEAP_OCAML5_DOMAINS)
    list(APPEND ISOHEAP_OCAML5_BUILDS domains)
endif()

# What collects, and what that needs; collectors/ocaml5/stubs.c has the rest.
set(ISOHEAP_OCAML5_RUNTIME addrmap alloc array codefrag custom domain extern fiber finalise gc_ctrl gc_stats
    globroots intern lf_skiplist major_gc memory memprof minor_gc misc obj platform roots signals skiplist
    startup_aux weak)
# Files that both adapters have, in collectors/ocaml.
set(ISOHEAP_OCAML5_SHARED extras finalisers life masks mutator primitives process roots sampling settings shadow)

# isoheap_ocaml5_headers(tree version made): what the tree lacks of the headers that configure makes.
function(isoheap_ocaml5_headers tree version made)
    isoheap_ocaml_header("${tree}" m "${made}" ARCH_SIXTYFOUR 1 HAS_ARCH_CODE32 1 SIZEOF_INT 4 SIZEOF_LONG 8
        SIZEOF_PTR 8 SIZEOF_SHORT 2 SIZEOF_LONGLONG 8 HEADER_RESERVED_BITS 0 FLAT_FLOAT_ARRAY 1 FUNCTION_SECTIONS 1
        SUPPORTS_ALIGNED_ATTRIBUTE 1 SUPPORTS_TREE_VECTORIZE 1)
    isoheap_ocaml_header("${tree}" s "${made}" OCAML_OS_TYPE "\"Unix\"" POSIX_SIGNALS 1 HAS_FULL_THREAD_VARIABLES 1
        HAS_C99_FLOAT_OPS 1 HAS_WORKING_FMA 1 HAS_WORKING_ROUND 1 HAS_SECURE_GETENV 1 HAS_SYS_MMAN_H 1 HAS_UNISTD 1
        HAS_LOCALE_H 1 HAS_STRTOD_L 1 HAS_MMAP 1 HAVE_MAX_ALIGN_T 1 HAVE_LABELS_AS_VALUES 1 HAS_STDATOMIC_H 1)
    isoheap_ocaml_header("${tree}" exec "${made}" EXEC_MAGIC_LENGTH 12 MAGIC_NUMBER_PREFIX "\"Caml1999\"" EXEC_FORMAT
        "\"X\"" MAGIC_NUMBER_VERSION "\"035\"")
    string(REGEX MATCH "^5\\.([0-9]+)\\.([0-9]+)" line "${version}")
    math(EXPR number "50000 + ${CMAKE_MATCH_1} * 100 + ${CMAKE_MATCH_2}")
    isoheap_ocaml_header("${tree}" version "${made}" OCAML_VERSION_MAJOR 5 OCAML_VERSION_MINOR ${CMAKE_MATCH_1}
        OCAML_VERSION_PATCHLEVEL ${CMAKE_MATCH_2} OCAML_VERSION ${number} OCAML_VERSION_STRING "\"${version}\"")
endfunction()

# isoheap_ocaml5_variant(name symbol tree version): library isoheap_<symbol> with the collector of that symbol.
function(isoheap_ocaml5_variant name symbol tree version)
    set(made "${PROJECT_BINARY_DIR}/ocaml/${symbol}_made")
    isoheap_ocaml5_headers("${tree}" "${version}" "${made}")
    set(runtime "${tree}/runtime")
    list(TRANSFORM ISOHEAP_OCAML5_RUNTIME REPLACE "(.+)" "${runtime}/\\1.c" OUTPUT_VARIABLE sources)
    file(GLOB adapter CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/collectors/ocaml5/*.c")
    set(view "${PROJECT_SOURCE_DIR}/collectors/ocaml5/heap_view.c")
    list(REMOVE_ITEM adapter "${view}")
    list(TRANSFORM ISOHEAP_OCAML5_SHARED REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/collectors/ocaml/\\1.c" OUTPUT_VARIABLE shared)
    # A failed assertion is a verdict, and signals have no block (collectors/ocaml5/stubs.c).
    set_source_files_properties("${runtime}/misc.c" PROPERTIES
        COMPILE_DEFINITIONS caml_failed_assert=caml_failed_assert_of_misc)
    set_source_files_properties("${runtime}/signals.c" PROPERTIES COMPILE_DEFINITIONS
        "caml_init_signal_handling=caml_init_signal_handling_of_signals;caml_init_signal_stack=caml_init_signal_stack_of_signals;caml_free_signal_stack=caml_free_signal_stack_of_signals")
    # Memory comes from collectors/ocaml5/region.c, where addresses repeat; the view contains shared_heap.c.
    set(memory malloc=region_malloc calloc=region_calloc realloc=region_realloc free=region_free)
    set_source_files_properties("${view}" PROPERTIES COMPILE_DEFINITIONS "${memory}")
    # Two headers, of two kinds of lists, have one guard.
    set_source_files_properties("${runtime}/globroots.c" "${runtime}/skiplist.c" PROPERTIES COMPILE_DEFINITIONS ISOHEAP_ALONE)
    set(domains "${PROJECT_SOURCE_DIR}/collectors/ocaml5/domains")
    if(name MATCHES "domains") # the views with the runtime, whose threads are fibers
        list(REMOVE_ITEM sources "${runtime}/domain.c" "${runtime}/major_gc.c")
        set(views "${domains}/domain_view.c" "${domains}/orphans_view.c")
        set(mutators "${domains}/mutators.c" "${domains}/extras.c")
        set_source_files_properties(${views} ${mutators} PROPERTIES COMPILE_DEFINITIONS ISOHEAP_ALONE)
        list(APPEND sources "${view}" ${views})
        list(APPEND adapter ${mutators})
        set(view)
    endif()
    isoheap_ocaml_library(${symbol} ${name} "${runtime}" "${made}" SOURCES ${sources} ADAPTER ${adapter} ${shared}
        VIEWS ${view} DEFINITIONS ${memory})
    # Thread-local variables are put back as others are: there is one thread, or they are exchanged between fibers.
    target_compile_definitions(${symbol}_runtime PRIVATE IN_CAML_RUNTIME)
    target_compile_definitions(${symbol}_adapter PRIVATE IN_CAML_RUNTIME _Thread_local= __thread=)
    if(name MATCHES "domains")
        foreach(part ${symbol}_runtime ${symbol}_adapter)
            target_compile_definitions(${part} PRIVATE ISOHEAP_DOMAINS CAML_PLAT_FUTEX_FALLBACK)
        endforeach()
        target_compile_options(${symbol}_runtime PRIVATE -fsanitize-coverage=trace-pc "SHELL:-include ${domains}/scheduled.h")
        target_link_libraries(isoheap_${symbol} PUBLIC isoheap_threads)
    else()
        target_compile_definitions(${symbol}_runtime PRIVATE _Thread_local= __thread=)
    endif()
endfunction()

function(isoheap_ocaml5_symbol variant result)
    set(${result} ocaml5_${variant} PARENT_SCOPE)
    if(variant STREQUAL release)
        set(${result} ocaml5 PARENT_SCOPE)
    endif()
endfunction()

# isoheap_ocaml5_tree(tree version): the tree of this build; "": there is none.
function(isoheap_ocaml5_tree tree version)
    set(${tree} "" PARENT_SCOPE)
    set(folder "${ISOHEAP_OCAML5_SOURCE}")
    if(NOT folder AND EXISTS "${ISOHEAP_OCAML5_DEFAULT}/VERSION")
        set(folder "${ISOHEAP_OCAML5_DEFAULT}")
    endif()
    if(NOT folder)
        message(STATUS "No sources of OCaml 5, so the collectors ocaml5 are left out: scripts/install.sh fetches them by npm")
        return()
    endif()
    isoheap_ocaml_version("${folder}" line why)
    if(why)
        message(FATAL_ERROR "The collector ocaml5 cannot be built: ${why}")
    endif()
    file(GLOB files CONFIGURE_DEPENDS "${folder}/VERSION" "${folder}/runtime/*.c" "${folder}/runtime/caml/*")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${files}")
    set(${tree} "${folder}" PARENT_SCOPE)
    set(${version} "${line}" PARENT_SCOPE)
endfunction()

# All variants; TARGET, which has the registry of collectors, is linked with them.
macro(isoheap_ocaml5_collectors TARGET)
    if(ISOHEAP_OCAML AND NOT CMAKE_CROSSCOMPILING)
        isoheap_ocaml5_tree(ISOHEAP_OCAML5_TREE ISOHEAP_OCAML5_VERSION)
    endif()
    if(ISOHEAP_OCAML5_TREE)
        isoheap_edges_are_called(has_fuel ${ISOHEAP_EDGE_FLAGS}) # not AFL++'s own compiler: a busy loop would never end
        if(NOT has_fuel OR ISOHEAP_OCAML5_VERSION MATCHES "^5\\.1\\.") # domains/ knows the files of 5.3
            list(REMOVE_ITEM ISOHEAP_OCAML5_BUILDS domains)
        endif()
        foreach(variant IN LISTS ISOHEAP_OCAML5_BUILDS)
            isoheap_ocaml5_symbol(${variant} symbol)
            isoheap_ocaml5_variant(${variant} ${symbol} "${ISOHEAP_OCAML5_TREE}" "${ISOHEAP_OCAML5_VERSION}")
            target_link_libraries(${TARGET} PUBLIC isoheap_${symbol})
            string(TOUPPER ${symbol} upper)
            target_compile_definitions(${TARGET} PUBLIC ISOHEAP_HAS_${upper})
        endforeach()
    endif()
endmacro()
