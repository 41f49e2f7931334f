# SPDX-License-Identifier: MIT
# The garbage collector of the OCaml runtime as a collector, from a source tree (IsoheapOcamlTree.cmake).
#
# Nothing of the sources is part of this project.  Each variant compiles them, and collectors/ocaml/
# with them, once.  A program may contain all variants, so every symbol of a variant gets a prefix of
# its own; the runtime's variables go into sections of their own, which collectors/ocaml/runtime.c puts
# back to what they were for every program.

include(IsoheapOcamlTree)
option(ISOHEAP_OCAML "The OCaml runtime as a collector (Debian: ocaml-source)" ON)
set(ISOHEAP_OCAML_VARIANTS "" CACHE STRING
    "Builds of the OCaml runtime; empty: all of release, debug (its own assertions), tiny (small pages, minor heap and mark stack), nnp (no naked pointers), native (roots of native code)")
if(NOT ISOHEAP_OCAML_VARIANTS)
    isoheap_ocaml_builds(4.13.1 ISOHEAP_OCAML_VARIANTS)
endif()
find_program(ISOHEAP_OBJCOPY NAMES ${CMAKE_OBJCOPY} objcopy llvm-objcopy)

# What collects, and what that needs; collectors/ocaml/stubs.c has the rest.
set(ISOHEAP_OCAML_RUNTIME alloc array codefrag compact custom domain eventlog extern finalise freelist gc_ctrl
    globroots intern major_gc memory memprof minor_gc misc obj roots_byt signals signals_byt skiplist
    stacks startup_aux weak)
set(ISOHEAP_OCAML_FLAGS -fno-strict-aliasing -fwrapv -fno-common -DCAML_NAME_SPACE -DCAMLDLLIMPORT=
    -DCAML_INTERNALS -D_FILE_OFFSET_BITS=64 -D_GNU_SOURCE)

# Without a runtime there is no such collector: an error in our own builds, which ask for it; a
# remark where a fuzzing service builds.
function(isoheap_ocaml_check problem)
    if(NOT ISOHEAP_OBJCOPY)
        set(problem "objcopy is not here: install binutils")
    endif()
    if(NOT problem)
        return()
    endif()
    if(ISOHEAP_ENGINE)
        message(STATUS "No OCaml runtime, so its targets are left out: ${problem}")
    else()
        message(FATAL_ERROR "The collector ocaml cannot be built: ${problem}")
    endif()
    set(ISOHEAP_OCAML OFF PARENT_SCOPE)
endfunction()

# isoheap_ocaml_copy(tree folder name ...): the tree's runtime but for the files of these names.  What another
# tree has left there, such as headers of its configure, goes.
function(isoheap_ocaml_copy tree folder)
    file(GLOB_RECURSE files RELATIVE "${tree}/runtime" "${tree}/runtime/*.c" "${tree}/runtime/*.h"
        "${tree}/runtime/*.h.in" "${tree}/runtime/*.tbl")
    file(GLOB_RECURSE old RELATIVE "${folder}" "${folder}/*")
    list(REMOVE_ITEM old ${files})
    foreach(file IN LISTS old)
        file(REMOVE "${folder}/${file}")
    endforeach()
    list(REMOVE_ITEM files ${ARGN})
    foreach(file IN LISTS files)
        configure_file("${tree}/runtime/${file}" "${folder}/${file}" COPYONLY)
    endforeach()
endfunction()

# Writes to a folder a copy of the tree's runtime with small limits.  The runtime has them as constants.
function(isoheap_ocaml_shrink tree folder)
    isoheap_ocaml_copy("${tree}" "${folder}" caml/config.h major_gc.c)
    isoheap_ocaml_constants("${tree}/runtime/caml/config.h" "${folder}/caml/config.h"
        Page_log 8 Max_young_wosize 32 Minor_heap_min 64 Heap_chunk_min "(4 * Page_size)")
    isoheap_ocaml_constants("${tree}/runtime/major_gc.c" "${folder}/major_gc.c" MARK_STACK_INIT_SIZE 16)
endfunction()

# isoheap_ocaml_constants(file changed name value ...): the file with other values in #define lines, each of
# which must be there.
function(isoheap_ocaml_constants file changed)
    file(READ "${file}" text)
    while(ARGN)
        list(POP_FRONT ARGN name value)
        if(NOT text MATCHES "\n#define ${name} [^\n]*")
            isoheap_ocaml_is_not_small("${file}" "constant ${name}")
        endif()
        string(REGEX REPLACE "\n#define ${name} [^\n]*" "\n#define ${name} ${value}" text "${text}")
    endwhile()
    file(CONFIGURE OUTPUT "${changed}" CONTENT "${text}" @ONLY)
endfunction()

function(isoheap_ocaml_is_not_small file what)
    message(FATAL_ERROR "${file} has no ${what}, which the variant tiny changes: leave that out of ISOHEAP_OCAML_VARIANTS, or ISOHEAP_OCAML5_BUILDS")
endfunction()

# isoheap_ocaml_static_names(file result): the names of the file's static functions and variables.
function(isoheap_ocaml_static_names file result)
    file(STRINGS "${file}" lines REGEX "^(static|Caml_inline) [^;]*")
    set(names)
    foreach(line IN LISTS lines)
        if(line MATCHES "([A-Za-z_0-9]+)[ ]*[(;=[,]")
            list(APPEND names ${CMAKE_MATCH_1})
        endif()
    endforeach()
    set(${result} ${names} PARENT_SCOPE)
endfunction()

# isoheap_ocaml_together(FILE sources result): writes FILE, which includes the sources that can be compiled
# together; result: FILE and those that cannot.
#
# Half of the time that a compiler takes for one of them is its own start, and each object is copied
# afterwards.  Two of a name in one compilation would be one variable, or an error.
function(isoheap_ocaml_together file sources result)
    set(alone)
    set(text)
    set(taken write truncate) # unistd.h has these
    foreach(source IN LISTS sources)
        isoheap_ocaml_static_names("${source}" names)
        get_source_file_property(definitions "${source}" COMPILE_DEFINITIONS)
        get_source_file_property(options "${source}" COMPILE_OPTIONS)
        set(twice FALSE)
        foreach(name IN LISTS names)
            if(name IN_LIST taken)
                set(twice TRUE)
            endif()
        endforeach()
        if(twice OR definitions OR options)
            list(APPEND alone "${source}")
        else()
            string(APPEND text "#include \"${source}\"\n")
            list(APPEND taken ${names})
        endif()
    endforeach()
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
    set(${result} "${file}" ${alone} PARENT_SCOPE)
endfunction()

# isoheap_ocaml_special(runtime): the files of that folder which are compiled as no others are.
function(isoheap_ocaml_special runtime)
    # A failed assertion is a verdict (stubs.c), not the end of the process.
    set_source_files_properties("${runtime}/misc.c" PROPERTIES
        COMPILE_DEFINITIONS caml_failed_assert=caml_failed_assert_of_misc)
    # A message of a mask's (collectors/ocaml/messages.h).
    set_source_files_properties("${runtime}/compact.c" PROPERTIES
        COMPILE_OPTIONS "-include;${PROJECT_SOURCE_DIR}/collectors/ocaml/messages.h")
    # It has a type with the name of a function of unistd.h.
    set_source_files_properties("${runtime}/roots_nat.c" PROPERTIES COMPILE_DEFINITIONS ISOHEAP_ALONE)
    # Its memory comes from collectors/ocaml/region.c, where addresses repeat.
    set_source_files_properties("${runtime}/memory.c" PROPERTIES
        COMPILE_DEFINITIONS "malloc=region_malloc;free=region_free;realloc=region_realloc")
endfunction()

# isoheap_ocaml_library(symbol name runtime made SOURCES file ... ADAPTER file ... VIEWS file ... [DEFINITIONS ...]):
# library isoheap_<symbol> with the collector of that symbol, the variant `name`.  VIEWS contain files of the
# runtime, and are compiled alone (ocaml_objects.sh); DEFINITIONS are the runtime's.
function(isoheap_ocaml_library symbol name runtime made)
    set(ways_of_building debug tiny nnp native native domains threads) # words of the name
    set(their_definitions DEBUG ISOHEAP_OCAML_TINY NO_NAKED_POINTERS=1 NATIVE_CODE TARGET_amd64 ISOHEAP_DOMAINS ISOHEAP_THREADS)
    cmake_parse_arguments(PARSE_ARGV 4 arg "" "" "SOURCES;ADAPTER;VIEWS;DEFINITIONS")
    isoheap_ocaml_together("${PROJECT_BINARY_DIR}/ocaml/${symbol}_runtime.c" "${arg_SOURCES}" sources)
    isoheap_ocaml_together("${PROJECT_BINARY_DIR}/ocaml/${symbol}_adapter.c" "${arg_ADAPTER}" adapter)
    list(APPEND adapter ${arg_VIEWS})
    set(definitions)
    foreach(way definition IN ZIP_LISTS ways_of_building their_definitions)
        if("_${name}_" MATCHES "_${way}_")
            list(APPEND definitions ${definition})
        endif()
    endforeach()
    add_library(${symbol}_runtime OBJECT ${sources})
    add_library(${symbol}_adapter OBJECT ${adapter})
    target_compile_options(${symbol}_runtime PRIVATE -w)
    target_compile_definitions(${symbol}_runtime PRIVATE ${arg_DEFINITIONS})
    foreach(part ${symbol}_runtime ${symbol}_adapter)
        isoheap_flags(${part} INSTRUMENTED)
        target_include_directories(${part} SYSTEM PRIVATE "${runtime}" "${made}" "${made}/caml")
        target_compile_options(${part} PRIVATE ${ISOHEAP_OCAML_FLAGS})
        target_compile_definitions(${part} PRIVATE ISOHEAP_COLLECTOR=${symbol} ${definitions})
    endforeach()
    # The headers may be those of the machine that builds; for another one of 64 bits this is what differs.
    if(CMAKE_C_BYTE_ORDER STREQUAL BIG_ENDIAN)
        target_compile_definitions(${symbol}_runtime PRIVATE ARCH_BIG_ENDIAN)
        target_compile_definitions(${symbol}_adapter PRIVATE ARCH_BIG_ENDIAN)
    endif()
    set_target_properties(${symbol}_runtime PROPERTIES C_STANDARD 11 C_EXTENSIONS ON)

    set(folder "${PROJECT_BINARY_DIR}/ocaml/${symbol}")
    set(objects)
    foreach(source ${sources} ${adapter})
        get_filename_component(base "${source}" NAME)
        list(APPEND objects "${folder}/${base}.o")
    endforeach()
    add_custom_command(OUTPUT ${objects}
        COMMAND bash "${PROJECT_SOURCE_DIR}/cmake/ocaml_objects.sh" ${symbol} "${ISOHEAP_OBJCOPY}" "${CMAKE_NM}" "${folder}"
                $<TARGET_OBJECTS:${symbol}_runtime> -- $<TARGET_OBJECTS:${symbol}_adapter>
        DEPENDS ${symbol}_runtime ${symbol}_adapter $<TARGET_OBJECTS:${symbol}_runtime>
                $<TARGET_OBJECTS:${symbol}_adapter> "${PROJECT_SOURCE_DIR}/cmake/ocaml_objects.sh"
        COMMENT "Naming the symbols of ${symbol}"
        COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    add_library(isoheap_${symbol} STATIC ${objects})
    set_target_properties(isoheap_${symbol} PROPERTIES LINKER_LANGUAGE C)
    target_link_libraries(isoheap_${symbol} PUBLIC isoheap_collectors m) # arena.c; the runtime's own
endfunction()

# isoheap_ocaml_variant(name symbol tree version): library isoheap_<symbol> with the collector of that symbol.
function(isoheap_ocaml_variant name symbol tree version)
    set(made "${PROJECT_BINARY_DIR}/ocaml/${symbol}_made")
    isoheap_ocaml_headers("${tree}" "${version}" "${made}")
    set(runtime "${tree}/runtime")
    if(name STREQUAL tiny)
        set(runtime "${PROJECT_BINARY_DIR}/ocaml/${symbol}_tree")
        isoheap_ocaml_shrink("${tree}" "${runtime}")
    endif()
    set(sources ${ISOHEAP_OCAML_RUNTIME})
    list(REMOVE_ITEM sources freelist major_gc) # parts of freelist_view.c and major_view.c
    if(name STREQUAL native) # of another machine: frames are what collectors/ocaml/frames.c makes
        list(REMOVE_ITEM sources roots_byt stacks)
        list(APPEND sources roots_nat)
    endif()
    list(TRANSFORM sources REPLACE "(.+)" "${runtime}/\\1.c")
    file(GLOB adapter CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/collectors/ocaml/*.c")
    set(views "${PROJECT_SOURCE_DIR}/collectors/ocaml/freelist_view.c"
        "${PROJECT_SOURCE_DIR}/collectors/ocaml/major_view.c")
    list(REMOVE_ITEM adapter ${views})
    isoheap_ocaml_special("${runtime}")
    isoheap_ocaml_library(${symbol} ${name} "${runtime}" "${made}" SOURCES ${sources} ADAPTER ${adapter} VIEWS ${views})
endfunction()

# isoheap_ocaml_edited(symbol variant [file old new]...): library isoheap_<symbol>, that variant of this build's tree with
# another text in some of its files: what somebody has who works on it.  They may ask isoheap_edit, an int of
# the program's, for which edit is in force.  No text has a semicolon.
function(isoheap_ocaml_edited symbol variant)
    set(copy "${PROJECT_BINARY_DIR}/ocaml/${symbol}_edited")
    isoheap_ocaml_edit("${ISOHEAP_OCAML_TREE}" "${copy}" ${ARGN})
    isoheap_ocaml_variant(${variant} ${symbol} "${copy}" "${ISOHEAP_OCAML_VERSION}")
endfunction()

# isoheap_ocaml_edit(tree copy [file old new]...): the folder copy has the runtime of the tree with these edits.
function(isoheap_ocaml_edit tree copy)
    set(edited)
    while(ARGN)
        list(POP_FRONT ARGN file old new)
        if(NOT file IN_LIST edited)
            list(APPEND edited ${file})
            file(READ "${tree}/runtime/${file}" text)
            set(text_${file} "extern int isoheap_edit;\n${text}")
        endif()
        string(FIND "${text_${file}}" "${old}" at)
        if(at EQUAL -1)
            message(FATAL_ERROR "${tree}/runtime/${file} does not have \"${old}\"")
        endif()
        string(REPLACE "${old}" "${new}" text_${file} "${text_${file}}")
    endwhile()
    isoheap_ocaml_copy("${tree}" "${copy}/runtime" ${edited})
    foreach(file IN LISTS edited)
        file(CONFIGURE OUTPUT "${copy}/runtime/${file}" CONTENT "${text_${file}}" @ONLY)
    endforeach()
endfunction()

# The symbol of a variant's collector.
function(isoheap_ocaml_symbol variant result)
    set(symbol ocaml_${variant})
    if(variant STREQUAL release)
        set(symbol ocaml)
    endif()
    set(${result} ${symbol} PARENT_SCOPE)
endfunction()

# All variants; TARGET, which has the registry of collectors, is linked with them.
macro(isoheap_ocaml_collectors TARGET)
    if(ISOHEAP_OCAML)
        isoheap_ocaml_tree(ISOHEAP_OCAML_TREE ISOHEAP_OCAML_VERSION problem) # isoheap_ocaml_edited needs them later
        isoheap_ocaml_check("${problem}")
    endif()
    if(ISOHEAP_OCAML)
        foreach(variant IN LISTS ISOHEAP_OCAML_VARIANTS)
            isoheap_ocaml_symbol(${variant} symbol)
            isoheap_ocaml_variant(${variant} ${symbol} "${ISOHEAP_OCAML_TREE}" "${ISOHEAP_OCAML_VERSION}")
            target_link_libraries(${TARGET} PUBLIC isoheap_${symbol})
            string(TOUPPER ${symbol} upper)
            target_compile_definitions(${TARGET} PUBLIC ISOHEAP_HAS_${upper})
        endforeach()
    endif()
endmacro()
