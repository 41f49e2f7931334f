# SPDX-License-Identifier: MIT
# cmake -DFOLDER=folder -DZIP=file "-DTO_BYTES=command;argument..." "-DSEEDS=file;..." -P PackSeeds.cmake: FOLDER gets
# the seeds of a target, and ZIP what is in it.  The command is called as `TO_BYTES folder text...`; an
# empty one copies them as they are.  Where seeds come from several folders, a/x becomes FOLDER/a_x:
# engines and scripts want all seeds of a target in one folder, and the same name may stand in two.
file(REMOVE_RECURSE "${FOLDER}" "${ZIP}")
file(MAKE_DIRECTORY "${FOLDER}")
if(NOT SEEDS)
    file(TOUCH "${FOLDER}/empty")
endif()

set(origins "")
foreach(seed IN LISTS SEEDS)
    get_filename_component(origin "${seed}" DIRECTORY)
    list(APPEND origins "${origin}")
endforeach()
list(REMOVE_DUPLICATES origins)
list(LENGTH origins several)
foreach(origin IN LISTS origins)
    set(some ${SEEDS})
    list(FILTER some INCLUDE REGEX "^${origin}/[^/]*$")
    if(NOT TO_BYTES)
        file(COPY ${some} DESTINATION "${FOLDER}")
        continue()
    endif()
    get_filename_component(name "${origin}" NAME)
    set(part "${FOLDER}/.part")
    file(MAKE_DIRECTORY "${part}")
    execute_process(COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 ${TO_BYTES} "${part}" ${some}
        COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB made "${part}/*")
    foreach(seed IN LISTS made)
        get_filename_component(base "${seed}" NAME)
        if(several GREATER 1)
            set(base "${name}_${base}")
        endif()
        file(RENAME "${seed}" "${FOLDER}/${base}")
    endforeach()
    file(REMOVE_RECURSE "${part}")
endforeach()

execute_process(COMMAND ${CMAKE_COMMAND} -E tar cf "${ZIP}" --format=zip "--mtime=1980-01-02 UTC" .
    WORKING_DIRECTORY "${FOLDER}" COMMAND_ERROR_IS_FATAL ANY)
