# SPDX-License-Identifier: MIT
# The manual page and the completion for bash, zsh and fish, written by the command itself.
include(GNUInstallDirs)

set(manual "${PROJECT_BINARY_DIR}/isoheap.1")
set(completion "${PROJECT_BINARY_DIR}/isoheap.")
set(run_isoheap COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:isoheap>)
add_custom_command(OUTPUT "${manual}" "${completion}bash" "${completion}zsh" "${completion}fish"
    ${run_isoheap} help --man > "${manual}"
    ${run_isoheap} help --completion=bash > "${completion}bash"
    ${run_isoheap} help --completion=zsh > "${completion}zsh"
    ${run_isoheap} help --completion=fish > "${completion}fish"
    DEPENDS isoheap
    COMMENT "Writing the manual page and the completion"
    VERBATIM)
add_custom_target(isoheap_manual ALL DEPENDS "${manual}" "${completion}bash")

install(FILES "${manual}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${completion}bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME isoheap)
install(FILES "${completion}zsh" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" RENAME _isoheap)
install(FILES "${completion}fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
