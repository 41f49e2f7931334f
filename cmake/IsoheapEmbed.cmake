# SPDX-License-Identifier: MIT
# Files inside a program: each becomes a `const char name_extension[]`, NUL at its end.
#
# As a script (cmake -DINPUT=file -DOUTPUT=file.c -P IsoheapEmbed.cmake) it writes one of them.

if(CMAKE_SCRIPT_MODE_FILE)
    get_filename_component(symbol "${INPUT}" NAME)
    string(MAKE_C_IDENTIFIER "${symbol}" symbol)
    file(READ "${INPUT}" bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
    file(WRITE "${OUTPUT}" "extern const char ${symbol}[];\nconst char ${symbol}[] = {\n${bytes}0};\n")
    return()
endif()

set(ISOHEAP_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

# isoheap_embed(TARGET file...): adds the files to a program.
function(isoheap_embed target)
    foreach(file IN LISTS ARGN)
        get_filename_component(name "${file}" NAME)
        set(source "${PROJECT_BINARY_DIR}/embedded/${name}.c")
        add_custom_command(OUTPUT "${source}"
            COMMAND ${CMAKE_COMMAND} "-DINPUT=${PROJECT_SOURCE_DIR}/${file}" "-DOUTPUT=${source}"
                    -P "${ISOHEAP_EMBED_SCRIPT}"
            DEPENDS "${PROJECT_SOURCE_DIR}/${file}" "${ISOHEAP_EMBED_SCRIPT}" VERBATIM)
        target_sources(${target} PRIVATE "${source}")
    endforeach()
endfunction()
