# SPDX-License-Identifier: MIT
# The plug-in interface as a number: a hash of all that is written in its headers, in the generated header
# collectors/interface_hash.h, which is installed beside them.  A plug-in carries the number that it was compiled
# with (collectors/plugin.h), so that one for another interface is refused whatever the difference is.
#
#   cmake -DTOP=folder -DOUT=file -P IsoheapInterface.cmake      the header for the files below another folder

set(ISOHEAP_INTERFACE collectors/collector.h collectors/extras.h collectors/layout.h collectors/own.h collectors/plugin.h
    collectors/traits.h collectors/tower/levels.h)

function(isoheap_interface_hash top out)
    set(text "")
    foreach(header IN LISTS ISOHEAP_INTERFACE)
        file(SHA256 "${top}/${header}" one)
        string(APPEND text "${header} ${one}\n")
    endforeach()
    string(SHA256 hash "${text}")
    string(SUBSTRING "${hash}" 0 16 hash)
    file(CONFIGURE OUTPUT "${out}" CONTENT [[
/* SPDX-License-Identifier: MIT
 *
 * Written by the build (cmake/IsoheapInterface.cmake): a hash of the headers of the plug-in interface.
 */
#ifndef ISOHEAP_INTERFACE_HASH_H
#define ISOHEAP_INTERFACE_HASH_H

#define ISOHEAP_INTERFACE_HASH 0x@hash@u

#endif
]] @ONLY)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    isoheap_interface_hash("${TOP}" "${OUT}")
    return()
endif()
# Headers that the build writes; every target finds them.
set(ISOHEAP_GENERATED "${PROJECT_BINARY_DIR}/generated")
isoheap_interface_hash("${PROJECT_SOURCE_DIR}" "${ISOHEAP_GENERATED}/collectors/interface_hash.h")
list(TRANSFORM ISOHEAP_INTERFACE PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE headers)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
include_directories("${ISOHEAP_GENERATED}")
