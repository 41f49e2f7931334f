# SPDX-License-Identifier: MIT
# Text files in a program.

# isoheap_embed(SYMBOL RESULT FILE...): sets RESULT to a C source that defines `const char SYMBOL[]` as
# the text of the files (under the top of the project), one behind the other, with a NUL at its end.
function(isoheap_embed symbol result)
    set(bytes "")
    foreach(file IN LISTS ARGN)
        set(path "${PROJECT_SOURCE_DIR}/${file}")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
        file(READ "${path}" text HEX)
        string(APPEND bytes "${text}")
    endforeach()
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    # Characters, not numbers: a number above 127 does not fit into a char that has a sign.
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
    set(source "${PROJECT_BINARY_DIR}/embedded/${symbol}.c")
    file(CONFIGURE OUTPUT "${source}" CONTENT
        "/* Made by the build from: ${ARGN}. */\nextern const char ${symbol}[];\nconst char ${symbol}[] = {\n@bytes@0};\n" @ONLY)
    set(${result} "${source}" PARENT_SCOPE)
endfunction()
