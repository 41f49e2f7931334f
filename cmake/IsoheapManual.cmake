# SPDX-License-Identifier: MIT
# The manual page and the completion for bash, written by the command itself.
include(GNUInstallDirs)

set(manual "${PROJECT_BINARY_DIR}/isoheap.1")
set(completion "${PROJECT_BINARY_DIR}/isoheap.bash")
add_custom_command(OUTPUT "${manual}" "${completion}"
    COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:isoheap> help --man > "${manual}"
    COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0
            $<TARGET_FILE:isoheap> help --completion=bash > "${completion}"
    DEPENDS isoheap
    COMMENT "Writing the manual page and the completion"
    VERBATIM)
add_custom_target(isoheap_manual ALL DEPENDS "${manual}" "${completion}")

install(FILES "${manual}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${completion}" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME isoheap)
