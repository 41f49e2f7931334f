# SPDX-License-Identifier: MIT
# cmake -DPATCH=file -DSOURCE=folder -DOUT=folder "-DFILES=a;b" -P ApplyFault.cmake: copies the files
# that the patch changes and applies it to the copies.  A result that is as before keeps its time, so
# that another head of a patch compiles nothing.
set(work "${OUT}.new")
file(REMOVE_RECURSE "${work}")
foreach(file IN LISTS FILES)
    get_filename_component(folder "${work}/${file}" DIRECTORY)
    file(COPY "${SOURCE}/${file}" DESTINATION "${folder}")
endforeach()
execute_process(COMMAND patch --batch --forward --no-backup-if-mismatch --fuzz=2 -p1 -d "${work}" -i "${PATCH}"
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PATCH} does not apply to the collectors' sources:\n${said}\n"
        "The sources have changed where the fault sits: bring the patch up to date (docs/evaluation.md).")
endif()
foreach(file IN LISTS FILES)
    get_filename_component(folder "${OUT}/${file}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different "${work}/${file}" "${OUT}/${file}"
        COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(REMOVE_RECURSE "${work}")
