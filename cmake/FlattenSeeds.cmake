# SPDX-License-Identifier: MIT
# cmake -DFOLDER=folder -P FlattenSeeds.cmake: folder/sub/x becomes folder/sub_x, since engines and
# scripts want all seeds of a target in one folder.
file(GLOB_RECURSE seeds RELATIVE "${FOLDER}" "${FOLDER}/*/*")
foreach(seed IN LISTS seeds)
    string(REPLACE "/" "_" flat "${seed}")
    file(RENAME "${FOLDER}/${seed}" "${FOLDER}/${flat}")
endforeach()
file(GLOB entries LIST_DIRECTORIES true "${FOLDER}/*")
foreach(entry IN LISTS entries)
    if(IS_DIRECTORY "${entry}")
        file(REMOVE_RECURSE "${entry}")
    endif()
endforeach()
