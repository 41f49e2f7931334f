# SPDX-License-Identifier: MIT
# Fuzz targets: one registration makes everything that belongs to one.

# What differs between this tree and the installed package, which includes this file as well
# (isoheapConfig.cmake): where the glue is, and what targets are linked with.
if(NOT ISOHEAP_PACKAGE)
    set(ISOHEAP_FUZZ_DIR "${PROJECT_SOURCE_DIR}/fuzz")
    set(ISOHEAP_SHARED_SEEDS)
    set(ISOHEAP_TARGET_LIBRARY isoheap_target)
    set(ISOHEAP_MUTATION_LIBRARY isoheap_mutation)
    set(ISOHEAP_COMMAND isoheap)
    set(ISOHEAP_THREADS_LIBRARY isoheap_threads)
    add_custom_target(fuzz_targets) # every fuzz_x
    add_custom_target(replay)       # every fuzz_x_standalone with a test replay_x
endif()

# isoheap_add_target(NAME fuzz_x SOURCES file... [LIBRARIES lib...] [SEEDS dir...] [TEXT|RAW] [NO_SEEDS] [STRUCTURED]
#                    [DICTIONARY file] [MEANING sentence])
# isoheap_add_target(NAME fuzz_x COLLECTOR symbol [REFERENCE symbol] [SOURCES file...] [THREADS] ...)
#
#   fuzz_x                  the libFuzzer binary (ISOHEAP_FUZZER), AFL++'s (ISOHEAP_AFL), or that of the
#                           engine in LIB_FUZZING_ENGINE
#   fuzz_x_standalone       replays files and folders, survives a crash; any compiler
#   replay_x                the test that replays the seeds with it, and corpus/fuzz_x if there is one
#   fuzz_x_seed_corpus.zip  the seeds, and unpacked in <build>/seeds/fuzz_x
#   fuzz_x.dict, .options   from the folder of the registration, or fuzz/default.*; DICTIONARY is another
#                           file for the first
#
# The seeds are packed whenever fuzz_x is made.
#
# The first form is for a target with an LLVMFuzzerTestOneInput of its own in SOURCES.  The second
# writes it: the collector of that symbol against the reference (cheney if none is given).  If the
# collector is not in collectors/, SOURCES are its files; they are instrumented, and make two things more:
#
#   x.so                    the plug-in for isoheap --plugin, without sanitizers
#   conformance_x           the test that holds it to its promises (isoheap conformance)
#   coverage_x              with ISOHEAP_COVERAGE, to be asked for: which lines of it the seeds, and
#                           corpus/fuzz_x, execute; the report is <build>/coverage/x/index.html
#
# SEEDS are folders under the top of the project; without them, seeds/x and, in another project,
# the seeds that isoheap comes with.  Seeds are written as text
# and packed as bytes, which is what an engine mutates; TEXT leaves them as they are, for a target
# whose input is text, and so does RAW, for one whose bytes are no program.  NO_SEEDS starts from
# nothing and has no replay test.
#
# THREADS: the collector has threads, which are to be deterministic (docs/threads.md): the calls in its SOURCES
# are those of collectors/threads/threads.h, and each edge is a point where another may go on.
#
# Both THREADS and EDGES need a compiler that calls a function at each edge; afl-clang-fast does not, and is refused.
#
# Two words for a collector of somebody else's, whose files do not know of isoheap:
#
#   EDGES                   executed edges of SOURCES can be counted as fuel (collectors/edges.h)
#   SECTIONS                the variables of SOURCES can be put back for every program (collectors/sections.h)
#
# MEANING is a sentence for `isoheap list`; the second form has one.
#
# Where the variable ISOHEAP_APART is set, the target belongs to that group, in the place of fuzz_targets, and the
# command does not list it.
#
# STRUCTURED lets the engine mutate programs instead of bytes (program/mutation/mutate.h); the second form
# always does.
function(isoheap_add_target)
    cmake_parse_arguments(PARSE_ARGV 0 arg "TEXT;RAW;NO_SEEDS;STRUCTURED;THREADS;EDGES;SECTIONS" "NAME;COLLECTOR;REFERENCE;DICTIONARY;MEANING" "SOURCES;LIBRARIES;SEEDS")
    if(arg_EDGES AND arg_THREADS)
        message(FATAL_ERROR "isoheap_add_target(NAME ${arg_NAME} ...): THREADS counts edges by itself, leave out EDGES")
    endif()
    if(arg_EDGES OR arg_THREADS)
        isoheap_edges_must_be_called(${arg_NAME} ${ISOHEAP_EDGE_FLAGS})
    endif()
    set(group fuzz_targets)
    if(ISOHEAP_APART)
        set(group ${ISOHEAP_APART})
    else()
        isoheap_list_target("${arg_NAME}" "${arg_MEANING}" "${arg_COLLECTOR}" "${arg_REFERENCE}")
    endif()
    string(REGEX REPLACE "^fuzz_" "" short ${arg_NAME})
    if(NOT arg_SEEDS AND NOT arg_NO_SEEDS)
        isoheap_default_seeds(arg_SEEDS ${short})
    endif()
    list(TRANSFORM arg_SEEDS PREPEND "${PROJECT_SOURCE_DIR}/" REGEX "^[^/]")
    set(standalone_sources ${arg_SOURCES})
    if(arg_COLLECTOR)
        isoheap_collector_glue(glue ${arg_NAME} ${arg_COLLECTOR} "${arg_REFERENCE}")
        set(foreign_sources ${arg_SOURCES})
        if(arg_THREADS)
            isoheap_preemptible_sources(${arg_SOURCES})
            list(APPEND arg_LIBRARIES ${ISOHEAP_THREADS_LIBRARY})
        endif()
        if(arg_SOURCES)
            isoheap_foreign_collector(arg_SOURCES standalone_sources ${short} ${arg_COLLECTOR}
                "${arg_SOURCES}" "${arg_LIBRARIES}" "${arg_EDGES}" "${arg_SECTIONS}")
        endif()
        list(APPEND arg_SOURCES "${glue}")
        list(APPEND standalone_sources "${glue}")
        list(PREPEND arg_LIBRARIES ${ISOHEAP_TARGET_LIBRARY})
        set(arg_STRUCTURED TRUE)
    endif()

    isoheap_standalone(${arg_NAME} "${standalone_sources}" "${arg_LIBRARIES}")
    if(arg_EDGES)
        isoheap_count_edges(${arg_NAME}_standalone)
    endif()
    if(NOT arg_NO_SEEDS)
        set(replayed ${arg_SEEDS})
        file(GLOB corpus CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/corpus/${arg_NAME}")
        list(APPEND replayed ${corpus}) # if one is kept beside the seeds
        isoheap_replay_test(${short} ${arg_NAME}_standalone ${replayed})
        if(ISOHEAP_COVERAGE AND ISOHEAP_PACKAGE AND foreign_sources)
            isoheap_coverage(${short} ${arg_NAME}_standalone "${foreign_sources}" "${replayed}")
        endif()
        if(NOT ISOHEAP_PACKAGE)
            add_dependencies(replay ${arg_NAME}_standalone)
        endif()
    endif()
    if(ISOHEAP_FUZZER OR ISOHEAP_AFL OR ISOHEAP_ENGINE)
        if(arg_STRUCTURED AND NOT ISOHEAP_AFL) # AFL++ takes a library instead
            isoheap_shared_objects(mutator isoheap_libfuzzer_mutator libfuzzer_mutator.c mutation_choice.c)
            list(APPEND arg_SOURCES ${mutator})
            list(APPEND arg_LIBRARIES ${ISOHEAP_MUTATION_LIBRARY})
        endif()
        isoheap_engine_binary(${arg_NAME} "${arg_SOURCES}" "${arg_LIBRARIES}")
        if(arg_EDGES)
            isoheap_count_edges(${arg_NAME})
        endif()
        set(as_they_are OFF)
        if(arg_TEXT OR arg_RAW)
            set(as_they_are ON)
        endif()
        isoheap_seed_zip(${arg_NAME} ${as_they_are} ${arg_SEEDS})
        isoheap_companion(${arg_NAME} dict "${arg_DICTIONARY}")
        isoheap_companion(${arg_NAME} options "")
        add_dependencies(${arg_NAME} ${arg_NAME}_seeds)
        if(NOT ISOHEAP_PACKAGE)
            add_dependencies(${group} ${arg_NAME})
        endif()
        set(form bytes)
        if(arg_TEXT)
            set(form text)
        elseif(arg_RAW)
            set(form raw)
        endif()
        set_property(GLOBAL APPEND PROPERTY isoheap_${group} "${arg_NAME} ${form}")
    endif()
endfunction()

function(isoheap_default_seeds result short)
    set(folders seeds/${short})
    if(ISOHEAP_PACKAGE)
        if(NOT IS_DIRECTORY "${PROJECT_SOURCE_DIR}/seeds/${short}")
            set(folders)
        endif()
        list(APPEND folders "${ISOHEAP_SHARED_SEEDS}")
    endif()
    set(${result} ${folders} PARENT_SCOPE)
endfunction()

# The objects of a collector, as the library NAME, which can get more flags; RESULT is what is linked.  SECTIONS: one
# object, whose variables are in sections of their own, of which the linker knows the bounds.
function(isoheap_foreign_objects result name sources libraries edges sections)
    add_library(${name} OBJECT ${sources})
    target_link_libraries(${name} PRIVATE ${ISOHEAP_TARGET_LIBRARY} ${libraries})
    set(objects $<TARGET_OBJECTS:${name}>)
    if(edges)
        target_compile_options(${name} PRIVATE ${ISOHEAP_EDGE_FLAGS})
    endif()
    if(sections)
        if(NOT CMAKE_OBJCOPY)
            message(FATAL_ERROR "isoheap_add_target(... SECTIONS) needs objcopy: install binutils")
        endif()
        target_compile_options(${name} PRIVATE -fno-common -fno-data-sections)
        set(one "${PROJECT_BINARY_DIR}/fuzz/${name}.o")
        set(rename)
        foreach(section .data .data.rel .data.rel.local .sdata)
            list(APPEND rename --rename-section ${section}=isoheap_data)
        endforeach()
        # .bss gets content in the file, or the linker would give it no place beside other content
        add_custom_command(OUTPUT "${one}"
            COMMAND ${CMAKE_LINKER} -r -o "${one}" ${objects}
            COMMAND ${CMAKE_OBJCOPY} ${rename} --rename-section .bss=isoheap_bss,alloc,load,data,contents "${one}"
            DEPENDS ${name} ${objects} COMMENT "Sections of ${name}" COMMAND_EXPAND_LISTS VERBATIM)
        set_source_files_properties("${one}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
        set(objects "${one}")
    endif()
    set(${result} ${objects} PARENT_SCOPE)
endfunction()

# Calls of the edges of a program or plug-in are led to fuzz/edges.c (collectors/edges.h).  clang leaves out what it can
# infer, the edge of an empty loop among them, unless it is told not to.
set(ISOHEAP_EDGE_FLAGS -fsanitize-coverage=trace-pc)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    string(APPEND ISOHEAP_EDGE_FLAGS ",no-prune")
endif()
# afl-clang-fast puts counters of its own in the place of the calls.  To be seen by the linker: it finds no function of
# that name, if there are calls.
include(CheckCSourceCompiles)
function(isoheap_edges_are_called result)
    set(CMAKE_REQUIRED_FLAGS "${ARGN}")
    set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,--wrap=__sanitizer_cov_trace_pc)
    set(CMAKE_REQUIRED_QUIET TRUE)
    check_c_source_compiles("int main(int n, char **v) { while (n < 3) n += v[n] != 0; return n; }" ISOHEAP_EDGES_ARE_NOT_CALLED)
    set(${result} TRUE PARENT_SCOPE)
    if(ISOHEAP_EDGES_ARE_NOT_CALLED)
        set(${result} FALSE PARENT_SCOPE)
    endif()
endfunction()
function(isoheap_edges_must_be_called name)
    isoheap_edges_are_called(called ${ARGN})
    if(NOT called)
        message(FATAL_ERROR "isoheap_add_target(NAME ${name} ...): EDGES and THREADS need a call at every edge, and "
            "${CMAKE_C_COMPILER} with ${ARGN} makes none, as AFL++'s own compiler does.  For AFL++: "
            "clang, and -DISOHEAP_AFL=ON in the place of LIB_FUZZING_ENGINE; or leave the word out for this build: "
            "loops that do not end are then time-outs, and threads change at calls alone")
    endif()
endfunction()
function(isoheap_count_edges target)
    target_sources(${target} PRIVATE "${ISOHEAP_FUZZ_DIR}/edges.c") # with the flags of each: a plug-in has no sanitizer
    target_link_options(${target} PRIVATE -Wl,--wrap=__sanitizer_cov_trace_pc)
endfunction()

# The collector of a third party: instrumented for the fuzz targets, and as a plug-in, which every
# isoheap command can load and therefore has no sanitizer of its own.
function(isoheap_foreign_collector engine_objects standalone_objects short symbol sources libraries edges sections)
    set(plugin_symbol ${symbol})
    set(glue "${PROJECT_BINARY_DIR}/fuzz/${short}_plugin.c")
    configure_file("${ISOHEAP_FUZZ_DIR}/plugin.c.in" "${glue}" @ONLY)
    isoheap_foreign_objects(plain ${short}_plain "${sources}" "${libraries}" "${edges}" "${sections}")
    set_target_properties(${short}_plain PROPERTIES POSITION_INDEPENDENT_CODE ON)
    add_library(${short}_plugin MODULE ${plain} "${glue}")
    target_link_libraries(${short}_plugin PRIVATE ${ISOHEAP_TARGET_LIBRARY} ${libraries})
    if(isoheap_built_with STREQUAL "off") # a sanitizer's runtime is in the command, not here
        target_link_options(${short}_plugin PRIVATE -Wl,-z,defs)
    endif()
    set_target_properties(${short}_plugin PROPERTIES PREFIX "" OUTPUT_NAME ${short}
        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    isoheap_foreign_objects(instrumented ${short}_instrumented "${sources}" "${libraries}" "${edges}" "${sections}")
    isoheap_flags(${short}_instrumented INSTRUMENTED)
    set(${engine_objects} ${instrumented} PARENT_SCOPE)
    if(ISOHEAP_SANITIZER_FLAGS OR ISOHEAP_ENGINE)
        set(${standalone_objects} ${instrumented} PARENT_SCOPE)
    elseif((edges OR sections) AND NOT ISOHEAP_COVERAGE)
        set(${standalone_objects} ${plain} PARENT_SCOPE)
    else() # coverage counters need a sanitizer's runtime, or the engine's
        set(${standalone_objects} ${sources} PARENT_SCOPE)
    endif()
    if(edges)
        isoheap_count_edges(${short}_plugin)
    endif()
    if(ISOHEAP_ENGINE) # its flags are for programs: no command could load the plug-in
        set_target_properties(${short}_plugin ${short}_plain PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
    if(NOT ISOHEAP_SANITIZER_FLAGS MATCHES "memory" AND NOT ISOHEAP_ENGINE)
        add_test(NAME conformance_${short} COMMAND ${ISOHEAP_COMMAND} conformance --plugin $<TARGET_FILE:${short}_plugin>)
        set_tests_properties(conformance_${short} PROPERTIES TIMEOUT 300 ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
    endif()
endfunction()

function(isoheap_collector_glue result TARGET SUBJECT REFERENCE)
    if(NOT REFERENCE)
        set(REFERENCE cheney)
    endif()
    set(glue "${PROJECT_BINARY_DIR}/fuzz/${TARGET}.c")
    configure_file("${ISOHEAP_FUZZ_DIR}/collector_target.c.in" "${glue}" @ONLY)
    set(${result} "${glue}" PARENT_SCOPE)
endfunction()

# A row of `isoheap list`.
function(isoheap_list_target name meaning collector reference)
    if(ISOHEAP_PACKAGE)
        return()
    elseif(collector AND NOT meaning)
        if(NOT reference)
            set(reference cheney)
        endif()
        set(meaning "${collector} against ${reference} and the model")
    elseif(NOT meaning)
        message(FATAL_ERROR "isoheap_add_target(NAME ${name} ...): what is it?  MEANING \"a sentence\" goes into `isoheap list`")
    endif()
    set_property(GLOBAL APPEND_STRING PROPERTY ISOHEAP_TARGET_ROWS " \\\n    X(${name}, \"${meaning}\")")
endfunction()

# FOLDER/targets.txt, for scripts: a target of the group a line, and what its input is: bytes or text of a program, or raw.
function(isoheap_write_target_names group folder)
    get_property(targets GLOBAL PROPERTY isoheap_${group})
    list(JOIN targets "\n" lines)
    file(WRITE "${folder}/targets.txt" "${lines}\n")
endfunction()

# To be called after the last registration.  In this tree it also writes fuzz/targets.def for the command.
function(isoheap_write_target_list)
    isoheap_write_target_names(fuzz_targets "${PROJECT_BINARY_DIR}")
    if(ISOHEAP_PACKAGE)
        return()
    endif()
    get_property(rows GLOBAL PROPERTY ISOHEAP_TARGET_ROWS)
    file(CONFIGURE OUTPUT "${ISOHEAP_GENERATED}/fuzz/targets.def" CONTENT "/* SPDX-License-Identifier: MIT
 *
 * Written by the build: X(name, what it fuzzes), a row for each registered fuzz target.
 */
#define FUZZ_TARGETS(X)@rows@
" @ONLY)
endfunction()

# Sources of fuzz/ that are the same for all targets: compiled once here, as LIBRARY; with each target
# where another project includes this file.
function(isoheap_shared_objects result library)
    list(TRANSFORM ARGN PREPEND "${ISOHEAP_FUZZ_DIR}/" OUTPUT_VARIABLE sources)
    if(ISOHEAP_PACKAGE)
        set(${result} ${sources} PARENT_SCOPE)
        return()
    endif()
    if(NOT TARGET ${library})
        add_library(${library} OBJECT ${sources})
        isoheap_flags(${library})
    endif()
    set(${result} $<TARGET_OBJECTS:${library}> PARENT_SCOPE)
endfunction()

function(isoheap_standalone name sources libraries)
    isoheap_shared_objects(runner isoheap_standalone_runner standalone.c)
    add_executable(${name}_standalone ${sources} ${runner})
    target_link_libraries(${name}_standalone PRIVATE ${libraries})
    isoheap_flags(${name}_standalone)
endfunction()

# A folder that does not exist (yet) is no reason not to build; an empty one fails the test.
function(isoheap_replay_test short runner)
    # Together: what a target sets up once is most of a short run; what fails is run alone besides.
    set(run ${runner} --together --timeout=${ISOHEAP_TARGET_TIMEOUT})
    if(ISOHEAP_COVERAGE)
        list(APPEND run --no-fork) # counters are written at exit
    endif()
    add_test(NAME replay_${short} COMMAND ${run} ${ARGN})
    set_tests_properties(replay_${short} PROPERTIES TIMEOUT 300 LABELS replay
        ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
endfunction()

# One process, which writes its counters when it ends.
function(isoheap_coverage short runner sources replayed)
    string(REGEX MATCH "^[0-9]+" version "${CMAKE_C_COMPILER_VERSION}") # counters have its format
    find_program(ISOHEAP_LLVM_PROFDATA NAMES llvm-profdata-${version} llvm-profdata)
    find_program(ISOHEAP_LLVM_COV NAMES llvm-cov-${version} llvm-cov)
    if(NOT ISOHEAP_LLVM_PROFDATA OR NOT ISOHEAP_LLVM_COV)
        message(FATAL_ERROR "ISOHEAP_COVERAGE needs llvm-profdata and llvm-cov of clang ${version}: package llvm-${version}")
    endif()
    set(folder "${PROJECT_BINARY_DIR}/coverage/${short}")
    set(counts "${folder}/all.profdata")
    list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
    add_custom_target(coverage_${short}
        COMMAND ${CMAKE_COMMAND} -E rm -rf "${folder}"
        COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
        COMMAND ${CMAKE_COMMAND} -E env "LLVM_PROFILE_FILE=${folder}/run.profraw" $<TARGET_FILE:${runner}>
            --timeout=${ISOHEAP_TARGET_TIMEOUT} --no-fork ${replayed}
        COMMAND ${ISOHEAP_LLVM_PROFDATA} merge -sparse "${folder}/run.profraw" -o "${counts}"
        COMMAND ${ISOHEAP_LLVM_COV} show $<TARGET_FILE:${runner}> "-instr-profile=${counts}" -format=html
            "-output-dir=${folder}" ${sources}
        COMMAND ${ISOHEAP_LLVM_COV} report $<TARGET_FILE:${runner}> "-instr-profile=${counts}" ${sources}
        COMMAND ${CMAKE_COMMAND} -E echo "lines: ${folder}/index.html"
        DEPENDS ${runner} USES_TERMINAL VERBATIM)
endfunction()

function(isoheap_engine_binary name sources libraries)
    add_executable(${name} ${sources})
    target_link_libraries(${name} PRIVATE ${libraries})
    isoheap_flags(${name})
    if(ISOHEAP_ENGINE)
        set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX) # IsoheapFlags.cmake adds the engine
    elseif(ISOHEAP_AFL)
        target_link_libraries(${name} PRIVATE ${ISOHEAP_AFL_RUNTIME})
    else()
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    endif()
endfunction()

# The seeds that the engine gets, one folder and one zip.
function(isoheap_seed_zip name as_they_are)
    set(folder "${PROJECT_BINARY_DIR}/seeds/${name}")
    set(zip "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}_seed_corpus.zip")
    list(TRANSFORM ARGN APPEND "/*" OUTPUT_VARIABLE patterns)
    file(GLOB seeds CONFIGURE_DEPENDS LIST_DIRECTORIES false ${patterns})
    set(packer "")
    set(to_bytes "")
    if(NOT as_they_are AND ISOHEAP_PACKAGE)
        set(packer $<TARGET_FILE:${ISOHEAP_COMMAND}>)
        set(to_bytes ${packer} convert --to=bytes -d)
    elseif(NOT as_they_are)
        set(packer $<TARGET_FILE:seed_bytes>)
        set(to_bytes ${packer})
    endif()
    add_custom_command(OUTPUT "${zip}"
        COMMAND ${CMAKE_COMMAND} "-DFOLDER=${folder}" "-DZIP=${zip}" "-DTO_BYTES=${to_bytes}" "-DSEEDS=${seeds}"
                -P "${ISOHEAP_CMAKE_DIR}/PackSeeds.cmake"
        DEPENDS ${seeds} ${packer} "${ISOHEAP_CMAKE_DIR}/PackSeeds.cmake"
        COMMENT "Packing the seeds of ${name}"
        VERBATIM)
    add_custom_target(${name}_seeds ALL DEPENDS "${zip}")
endfunction()

# NAME.EXTENSION of the folder, or the default, beside the binary.
function(isoheap_companion name extension source)
    if(NOT source)
        set(source "${CMAKE_CURRENT_SOURCE_DIR}/${name}.${extension}")
        file(GLOB found CONFIGURE_DEPENDS "${source}") # looks again when the file appears
        if(NOT found)
            set(source "${ISOHEAP_FUZZ_DIR}/default.${extension}")
        endif()
    endif()
    configure_file("${source}" "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}.${extension}" COPYONLY)
endfunction()
