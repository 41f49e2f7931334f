/* SPDX-License-Identifier: MIT
 *
 * Folders and durable files (campaign.h).
 *
 * A file is there as a whole or not at all, also after a power cut: it is written beside its place,
 * brought to the disk, renamed, and then the folder is brought to the disk.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"
#include "harness/current_input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { FILE_MAX = 16 << 20 }; /* no input of a target is longer */
enum { SPACE_NEEDED = 2 << 20, FILES_NEEDED = 256 };

char *text_of(const char *format, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        fprintf(stderr, "isoheap: no memory\n");
        exit(EXIT_HARNESS);
    }
    return text;
}

bool ends_in(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

const char *path_argument(const char *path) {
    return path[0] == '-' ? text_of("./%s", path) : path;
}

bool make_folder(const char *path) {
    char *copy = text_of("%s", path);
    bool good = true;
    for (char *p = copy + 1; good && *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        good = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *p = '/';
    }
    struct stat info;
    good = good && (mkdir(copy, 0777) == 0 || errno == EEXIST);
    if (good && (stat(copy, &info) != 0 || !S_ISDIR(info.st_mode))) {
        errno = ENOTDIR;
        good = false;
    }
    free(copy);
    return good;
}

bool lock_folder(const char *path, const char *shown, const char *option) {
    char *lock = text_of("%s/.lock", path);
    int fd = make_folder(path) ? open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    bool good = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (!good && errno == EWOULDBLOCK)
        fprintf(stderr, "isoheap: another campaign uses %s; give this one %s of its own\n", shown,
                option);
    else if (!good)
        fprintf(stderr, "isoheap: %s: %s\n", path, strerror(errno));
    if (fd >= 0 && !good)
        close(fd);
    free(lock);
    return good;
}

/* ---- durable files ----------------------------------------------------------------------------
 */

static bool sync_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? text_of("%.*s", (int)(slash - path + 1), path) : text_of(".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    free(folder);
    return good;
}

/* durable: also after a power cut. */
static bool place_file(const char *path, const void *data, size_t size, bool durable) {
    return replace_file(path, 0644, durable, data, size) && (!durable || sync_folder_of(path));
}

bool save_file(const char *path, const void *data, size_t size) {
    return place_file(path, data, size, true);
}

bool move_file(const char *from, const char *to) {
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = fsync(fd) == 0;
    close(fd);
    return good && rename(from, to) == 0 && sync_folder_of(to);
}

char *load_file(const char *path, size_t *size) {
    return load_file_up_to(path, size, FILE_MAX);
}

char *load_file_up_to(const char *path, size_t *size, size_t most) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    size_t room = fstat(fd, &info) == 0 && info.st_size > 0 ? (size_t)info.st_size : 0;
    char *data = room <= most ? malloc(room + 1) : NULL;
    if (room > most)
        errno = EFBIG;
    *size = 0;
    while (data && *size < room) {
        ssize_t n = read(fd, data + *size, room - *size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        *size += (size_t)n;
    }
    if (data)
        data[*size] = 0;
    close(fd);
    return data;
}

/* ---- folders ----------------------------------------------------------------------------------
 */

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info;
    (void)kind;
    (void)where;
    remove(path);
    return 0;
}

void remove_folder(const char *path) {
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static int visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

void visit_folder(const char *folder, void (*visit)(const char *path, const char *name, void *),
                  void *context) {
    struct dirent **entries;
    int n = scandir(folder, &entries, visible, alphasort);
    for (int i = 0; i < n; i++) {
        char *path = text_of("%s/%s", folder, entries[i]->d_name);
        if (is_file(path))
            visit(path, entries[i]->d_name, context);
        free(path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

unsigned count_files(const char *folder) {
    unsigned n = 0;
    struct dirent *entry;
    DIR *d = opendir(folder);
    while (d && (entry = readdir(d)))
        n += visible(entry) && entry->d_type != DT_DIR;
    if (d)
        closedir(d);
    return n;
}

/* ---- content ----------------------------------------------------------------------------------
 */

void name_content(const void *data, size_t size, char name[17]) {
    snprintf(name, 17, "%016" PRIx64, content_hash(data, size));
}

int add_to_folder(const char *folder, const void *data, size_t size) {
    char name[17];
    name_content(data, size, name);
    char *path = text_of("%s/%s", folder, name);
    int result = access(path, F_OK) == 0 ? 0 : place_file(path, data, size, false) ? 1 : -1;
    free(path);
    return result;
}

static size_t bytes_left(const struct statvfs *info) {
    return (size_t)info->f_bavail * (size_t)info->f_frsize;
}

size_t space_left(const char *folder) {
    struct statvfs info;
    return statvfs(folder, &info) == 0 ? bytes_left(&info) : SIZE_MAX;
}

bool has_space(const char *folder) {
    struct statvfs info;
    if (statvfs(folder, &info) != 0)
        return true;
    bool counts_files = info.f_files > 0; /* some file systems make room for them as they go */
    return bytes_left(&info) >= SPACE_NEEDED && (!counts_files || info.f_favail >= FILES_NEEDED);
}
