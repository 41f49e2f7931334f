# SPDX-License-Identifier: MIT
# The garbage collector of the OCaml 5 runtime as a collector: as IsoheapOcaml.cmake has it for OCaml 4.
#
# Its sources come from ISOHEAP_OCAML5_SOURCE, or else from build/ocaml-source, where scripts/install.sh puts
# the release that npm has.  Where there are none the collector is left out.

set(ISOHEAP_OCAML5_DEFAULT "${PROJECT_SOURCE_DIR}/build/ocaml-source/5.3.0")
set(ISOHEAP_OCAML5_SOURCE "" CACHE STRING
    "Source tree of OCaml 5 whose runtime is the collector ocaml5; empty: the one that scripts/install.sh has fetched")
set(ISOHEAP_OCAML5_BUILDS "" CACHE STRING
    "Builds of the OCaml 5 runtime; empty: all of release, debug (its own assertions and checks of the heap), tiny (small pools, minor heap and mark stack), domains (one for each mutator), domains_debug")

# What collects, and what that needs; collectors/ocaml5/stubs.c has the rest.
set(ISOHEAP_OCAML5_RUNTIME addrmap alloc array codefrag custom domain extern fiber finalise gc_ctrl gc_stats
    globroots intern lf_skiplist major_gc memory memprof minor_gc misc obj platform roots signals skiplist
    startup_aux weak)
# Files that both adapters have, in collectors/ocaml.
set(ISOHEAP_OCAML5_SHARED extras finalisers life masks mutator own_lists primitives process roots sampling settings shadow)

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

# isoheap_ocaml5_classes(file changed pool largest): the file with the sizes of blocks that have pools, with pools
# of other words, and without the larger sizes.  What it has follows from that, as tools/gen_sizeclasses.ml says.
function(isoheap_ocaml5_classes file changed pool largest)
    file(READ "${file}" text)
    if(NOT text MATCHES "\n#define POOL_HEADER_WSIZE ([0-9]+)\n.*wsize_sizeclass\\[NUM_SIZECLASSES\\] =[^{]*{([0-9, \n]+)}")
        isoheap_ocaml_is_not_small("${file}" "sizes of blocks")
    endif()
    set(header ${CMAKE_MATCH_1})
    string(REGEX MATCHALL "[0-9]+" sizes "${CMAKE_MATCH_2}")
    set(kept)
    set(wasted)
    set(class_of 255) # of a size; there is no block of 0 words
    set(n 0)
    set(last 0)
    foreach(size IN LISTS sizes)
        if(size GREATER largest)
            break()
        endif()
        math(EXPR waste "(${pool} - ${header}) % ${size}")
        list(APPEND kept ${size})
        list(APPEND wasted ${waste})
        foreach(each RANGE ${last} ${size})
            if(each GREATER last)
                list(APPEND class_of ${n})
            endif()
        endforeach()
        set(last ${size})
        math(EXPR n "${n} + 1")
    endforeach()
    foreach(list kept wasted class_of)
        list(JOIN ${list} ", " ${list})
    endforeach()
    file(CONFIGURE OUTPUT "${changed}" @ONLY CONTENT "#define POOL_WSIZE ${pool}
#define POOL_HEADER_WSIZE ${header}
#define SIZECLASS_MAX ${last}
#define NUM_SIZECLASSES ${n}
static const unsigned int wsize_sizeclass[NUM_SIZECLASSES] = { ${kept} };
static const unsigned char wastage_sizeclass[NUM_SIZECLASSES] = { ${wasted} };
static const unsigned char sizeclass_wsize[SIZECLASS_MAX + 1] = { ${class_of} };
")
endfunction()

# isoheap_ocaml5_numbers(file changed old new): the file with another text in one place.
function(isoheap_ocaml5_numbers file changed old new)
    file(READ "${file}" text)
    string(FIND "${text}" "${old}" at)
    if(at EQUAL -1)
        isoheap_ocaml_is_not_small("${file}" "text \"${old}\"")
    endif()
    string(REPLACE "${old}" "${new}" text "${text}")
    file(CONFIGURE OUTPUT "${changed}" CONTENT "${text}" @ONLY)
endfunction()

# Writes to a folder a copy of the tree's runtime with small limits.
function(isoheap_ocaml5_shrink tree folder)
    set(from "${tree}/runtime")
    isoheap_ocaml_copy("${tree}" "${folder}" caml/config.h caml/sizeclasses.h major_gc.c minor_gc.c finalise.c)
    isoheap_ocaml_constants("${from}/caml/config.h" "${folder}/caml/config.h" Page_log 9 Max_young_wosize 32)
    isoheap_ocaml5_classes("${from}/caml/sizeclasses.h" "${folder}/caml/sizeclasses.h" 128 32)
    isoheap_ocaml_constants("${from}/major_gc.c" "${folder}/major_gc.c" MARK_STACK_INIT_SIZE 16
        PREFETCH_BUFFER_SIZE 4 PREFETCH_BUFFER_MIN 1)
    isoheap_ocaml5_numbers("${from}/minor_gc.c" "${folder}/minor_gc.c" "minor_heap_wsz / 8, 256" "minor_heap_wsz / 32, 2")
    isoheap_ocaml5_numbers("${from}/finalise.c" "${folder}/finalise.c" "new_size = 30" "new_size = 2")
endfunction()

# isoheap_ocaml5_variant(name symbol tree version): library isoheap_<symbol> with the collector of that symbol.
function(isoheap_ocaml5_variant name symbol tree version)
    set(made "${PROJECT_BINARY_DIR}/ocaml/${symbol}_made")
    isoheap_ocaml5_headers("${tree}" "${version}" "${made}")
    set(runtime "${tree}/runtime")
    if(name MATCHES "tiny")
        set(runtime "${PROJECT_BINARY_DIR}/ocaml/${symbol}_tree")
        isoheap_ocaml5_shrink("${tree}" "${runtime}")
    endif()
    list(TRANSFORM ISOHEAP_OCAML5_RUNTIME REPLACE "(.+)" "${runtime}/\\1.c" OUTPUT_VARIABLE sources)
    file(GLOB adapter CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/collectors/ocaml5/*.c")
    set(view "${PROJECT_SOURCE_DIR}/collectors/ocaml5/heap_view.c")
    list(REMOVE_ITEM adapter "${view}")
    set_source_files_properties("${PROJECT_SOURCE_DIR}/collectors/ocaml5/own.c" PROPERTIES COMPILE_DEFINITIONS ISOHEAP_ALONE)
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
            target_compile_definitions(${part} PRIVATE CAML_PLAT_FUTEX_FALLBACK)
        endforeach()
        target_compile_options(${symbol}_runtime PRIVATE -fsanitize-coverage=trace-pc "SHELL:-include ${domains}/scheduled.h")
        target_link_libraries(isoheap_${symbol} PUBLIC isoheap_threads)
    else()
        target_compile_definitions(${symbol}_runtime PRIVATE _Thread_local= __thread=)
    endif()
endfunction()

# isoheap_ocaml5_threads(symbol tree version): library isoheap_<symbol>, the runtime with a thread of the system for each domain
# (collectors/ocaml5/threads/threads.h): its own memory, its own signals, its own waiting.
function(isoheap_ocaml5_threads symbol tree version)
    set(made "${PROJECT_BINARY_DIR}/ocaml/${symbol}_made")
    isoheap_ocaml5_headers("${tree}" "${version}" "${made}")
    set(runtime "${tree}/runtime")
    set(names ${ISOHEAP_OCAML5_RUNTIME} sync unix)
    list(TRANSFORM names REPLACE "(.+)" "${runtime}/\\1.c" OUTPUT_VARIABLE sources)
    set(folder "${PROJECT_SOURCE_DIR}/collectors")
    file(GLOB adapter CONFIGURE_DEPENDS "${folder}/ocaml5/threads/*.c")
    set(view "${folder}/ocaml5/threads/pools_view.c")
    list(REMOVE_ITEM adapter "${view}")
    foreach(name runtime stubs ocaml5 marshalling)
        list(APPEND adapter "${folder}/ocaml5/${name}.c")
    endforeach()
    foreach(name extras masks primitives process roots sampling settings)
        list(APPEND adapter "${folder}/ocaml/${name}.c")
    endforeach()
    set_source_files_properties("${runtime}/misc.c" PROPERTIES
        COMPILE_DEFINITIONS caml_failed_assert=caml_failed_assert_of_misc)
    set_source_files_properties("${runtime}/signals.c" PROPERTIES
        COMPILE_DEFINITIONS caml_init_signal_handling=caml_init_signal_handling_of_signals)
    set_source_files_properties("${runtime}/globroots.c" "${runtime}/skiplist.c" PROPERTIES COMPILE_DEFINITIONS ISOHEAP_ALONE)
    set_source_files_properties("${runtime}/unix.c" PROPERTIES
        COMPILE_DEFINITIONS "caml_secure_getenv=caml_secure_getenv_of_unix;HAS_POSIX_MONOTONIC_CLOCK")
    isoheap_ocaml_library(${symbol} threads "${runtime}" "${made}" SOURCES ${sources} ADAPTER ${adapter}
        VIEWS "${view}" DEFINITIONS IN_CAML_RUNTIME)
    target_compile_definitions(${symbol}_adapter PRIVATE IN_CAML_RUNTIME)
    foreach(part ${symbol}_runtime ${symbol}_adapter)
        target_compile_options(${part} PRIVATE "SHELL:-include ${folder}/ocaml5/threads/instrumented.h")
        if("thread" IN_LIST ISOHEAP_SANITIZE) # volatile accesses are relaxed atomic ones, as the runtime has it
            target_compile_options(${part} PRIVATE "SHELL:-mllvm -tsan-distinguish-volatile")
        endif()
    endforeach()
endfunction()

# isoheap_ocaml5_edited(symbol variant [file old new]...): as isoheap_ocaml_edited.
function(isoheap_ocaml5_edited symbol variant)
    set(copy "${PROJECT_BINARY_DIR}/ocaml/${symbol}_edited")
    isoheap_ocaml_edit("${ISOHEAP_OCAML5_TREE}" "${copy}" ${ARGN})
    isoheap_ocaml5_variant(${variant} ${symbol} "${copy}" "${ISOHEAP_OCAML5_VERSION}")
endfunction()

function(isoheap_ocaml5_threads_edited symbol)
    set(copy "${PROJECT_BINARY_DIR}/ocaml/${symbol}_edited")
    isoheap_ocaml_edit("${ISOHEAP_OCAML5_TREE}" "${copy}" ${ARGN})
    isoheap_ocaml5_threads(${symbol} "${copy}" "${ISOHEAP_OCAML5_VERSION}")
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
        isoheap_ocaml_builds("${ISOHEAP_OCAML5_VERSION}" builds)
        if(NOT has_fuel)
            list(REMOVE_ITEM builds domains domains_debug)
        endif()
        set(ISOHEAP_OCAML5_THERE "")
        foreach(variant IN LISTS builds)
            if(ISOHEAP_OCAML5_BUILDS AND NOT variant IN_LIST ISOHEAP_OCAML5_BUILDS)
                continue()
            endif()
            list(APPEND ISOHEAP_OCAML5_THERE ${variant})
            isoheap_ocaml5_symbol(${variant} symbol)
            isoheap_ocaml5_variant(${variant} ${symbol} "${ISOHEAP_OCAML5_TREE}" "${ISOHEAP_OCAML5_VERSION}")
            target_link_libraries(${TARGET} PUBLIC isoheap_${symbol})
            string(TOUPPER ${symbol} upper)
            target_compile_definitions(${TARGET} PUBLIC ISOHEAP_HAS_${upper})
        endforeach()
    endif()
endmacro()
