/* Preloaded into a server: writes down what it does to the files of a folder, and when it sends an answer that says that something was
   done. It must not know what is in the files.

   POWER_FOLDER  the folder (absolute)
   POWER_LOG     the file for the operations
   POWER_BOOT_ID a file to be read in the place of the kernel's boot id

   A record: type (1 byte), file (4 bytes: a number of what was opened), position (8), lengths of two texts (4 each), the texts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#undef fwrite_unlocked

#define FILES 65536
static struct { uint32_t number; dev_t dev; ino_t ino; } files[FILES];
static uint32_t last = 0;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *folder, *boot;
static size_t folder_length;
static int out = -1;

#define REAL(name) ({ if (!real_##name) real_##name = dlsym(RTLD_NEXT, #name); (__typeof__(&name))real_##name; })
#define HOOK(name) static void *real_##name;

HOOK(open) HOOK(open64) HOOK(fopen) HOOK(fopen64) HOOK(write) HOOK(writev) HOOK(pwrite64) HOOK(pwritev64) HOOK(sendmsg) HOOK(fwrite_unlocked) HOOK(fsync)
HOOK(fdatasync) HOOK(ftruncate64) HOOK(rename) HOOK(link) HOOK(unlink) HOOK(mkdir) HOOK(rmdir)

static void put(const void *bytes, size_t length) {
  for (const char *at = bytes; length > 0;) {
    ssize_t done = REAL(write)(out, at, length);
    if (done <= 0) abort();
    at += done;
    length -= done;
  }
}

static void record(char type, uint32_t file, uint64_t position, const void *one, size_t one_length, const void *two, size_t two_length) {
  char head[21];
  uint32_t lengths[2] = {one_length, two_length};
  head[0] = type;
  memcpy(head + 1, &file, 4);
  memcpy(head + 5, &position, 8);
  memcpy(head + 13, lengths, 8);
  put(head, sizeof head);
  put(one, one_length);
  put(two, two_length);
}

__attribute__((constructor)) static void begin(void) {
  folder = getenv("POWER_FOLDER");
  boot = getenv("POWER_BOOT_ID");
  const char *log = getenv("POWER_LOG");
  if (!folder || !log) return;
  folder_length = strlen(folder);
  out = REAL(open64)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  record('P', 0, 0, "", 0, "", 0);
}

/* The path below the folder; nothing: it is elsewhere, or LevelDB's own notes. */
static const char *within(const char *path) {
  if (out < 0 || strncmp(path, folder, folder_length) != 0) return NULL;
  const char *rest = path + folder_length;
  if (*rest == 0) return "";
  if (*rest != '/') return NULL;
  const char *name = strrchr(rest, '/') + 1;
  return strcmp(name, "LOG") == 0 || strcmp(name, "LOG.old") == 0 ? NULL : rest + 1;
}

static uint32_t number_of(int fd) {
  if (out < 0 || fd < 0 || fd >= FILES || files[fd].number == 0) return 0;
  struct stat now;
  if (fstat(fd, &now) != 0 || now.st_dev != files[fd].dev || now.st_ino != files[fd].ino) return 0;
  return files[fd].number;
}

static void opened(int fd, const char *path, int flags) {
  if (fd < 0 || fd >= FILES) return;
  struct stat now;
  const char *name = within(path);
  files[fd].number = 0;
  if (!name || fstat(fd, &now) != 0) return;
  files[fd].number = ++last;
  files[fd].dev = now.st_dev;
  files[fd].ino = now.st_ino;
  record('O', last, (flags & O_CREAT ? 1 : 0) | (flags & O_TRUNC ? 2 : 0), name, strlen(name), "", 0);
}

/* Objects compiled without 64-bit file offsets call the names without 64, which are the same functions on 64-bit systems. */
#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = va_arg(list, mode_t); \
    va_end(list); \
    if (boot && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) path = boot; \
    pthread_mutex_lock(&mutex); \
    int fd = REAL(name)(path, flags, mode); \
    opened(fd, path, flags); \
    pthread_mutex_unlock(&mutex); \
    return fd; \
  }
OPEN(open)
OPEN(open64)

#define FOPEN(name) \
  FILE *name(const char *path, const char *mode) { \
    pthread_mutex_lock(&mutex); \
    FILE *file = REAL(name)(path, mode); \
    if (file) opened(fileno(file), path, *mode == 'w' ? O_CREAT | O_TRUNC : *mode == 'a' ? O_CREAT : 0); \
    pthread_mutex_unlock(&mutex); \
    return file; \
  }
FOPEN(fopen)
FOPEN(fopen64)

static void acknowledged(const void *bytes, size_t length) {
  if (out < 0 || length < 12 || memcmp(bytes, "HTTP/1.1 2", 10) != 0) return;
  pthread_mutex_lock(&mutex);
  record('A', 0, 0, bytes, length < 800 ? length : 800, "", 0);
  pthread_mutex_unlock(&mutex);
}

static ssize_t wrote(uint32_t number, uint64_t position, const struct iovec *parts, int count, ssize_t done) {
  ssize_t left = done;
  for (int i = 0; i < count && left > 0; i++) {
    size_t length = parts[i].iov_len < (size_t)left ? parts[i].iov_len : (size_t)left;
    record('W', number, position, parts[i].iov_base, length, "", 0);
    position += length;
    left -= length;
  }
  return done;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  struct iovec part = {(void *)bytes, length};
  uint32_t number = number_of(fd);
  if (!number) {
    acknowledged(bytes, length);
    return REAL(write)(fd, bytes, length);
  }
  pthread_mutex_lock(&mutex);
  ssize_t done = REAL(write)(fd, bytes, length);
  wrote(number, lseek(fd, 0, SEEK_CUR) - done, &part, 1, done);
  pthread_mutex_unlock(&mutex);
  return done;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  uint32_t number = number_of(fd);
  if (!number) {
    if (count > 0) acknowledged(parts[0].iov_base, parts[0].iov_len);
    return REAL(writev)(fd, parts, count);
  }
  pthread_mutex_lock(&mutex);
  ssize_t done = REAL(writev)(fd, parts, count);
  wrote(number, lseek(fd, 0, SEEK_CUR) - done, parts, count, done);
  pthread_mutex_unlock(&mutex);
  return done;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  if (message->msg_iovlen > 0) acknowledged(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
  return REAL(sendmsg)(fd, message, flags);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t position) {
  uint32_t number = number_of(fd);
  if (!number) return REAL(pwritev64)(fd, parts, count, position);
  pthread_mutex_lock(&mutex);
  ssize_t done = wrote(number, position, parts, count, REAL(pwritev64)(fd, parts, count, position));
  pthread_mutex_unlock(&mutex);
  return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t position) {
  struct iovec part = {(void *)bytes, length};
  uint32_t number = number_of(fd);
  if (!number) return REAL(pwrite64)(fd, bytes, length, position);
  pthread_mutex_lock(&mutex);
  ssize_t done = wrote(number, position, &part, 1, REAL(pwrite64)(fd, bytes, length, position));
  pthread_mutex_unlock(&mutex);
  return done;
}

/* LevelDB flushes after each. */
size_t fwrite_unlocked(const void *bytes, size_t size, size_t count, FILE *file) {
  struct iovec part = {(void *)bytes, size * count};
  uint32_t number = number_of(fileno(file));
  if (!number) return REAL(fwrite_unlocked)(bytes, size, count, file);
  pthread_mutex_lock(&mutex);
  wrote(number, ftello64(file), &part, 1, size * count);
  size_t done = REAL(fwrite_unlocked)(bytes, size, count, file);
  if (done != count) abort();
  pthread_mutex_unlock(&mutex);
  return done;
}

int ftruncate64(int fd, off64_t length) {
  uint32_t number = number_of(fd);
  pthread_mutex_lock(&mutex);
  int result = REAL(ftruncate64)(fd, length);
  if (number && result == 0) record('T', number, length, "", 0, "", 0);
  pthread_mutex_unlock(&mutex);
  return result;
}

/* What is written while it runs may or may not be synced: `B` says what surely is. */
static int synced(int fd, int (*sync)(int)) {
  uint32_t number = number_of(fd);
  if (!number) return sync(fd);
  static uint64_t syncs = 0;
  pthread_mutex_lock(&mutex);
  uint64_t own = ++syncs;
  record('B', number, own, "", 0, "", 0);
  pthread_mutex_unlock(&mutex);
  int result = sync(fd);
  pthread_mutex_lock(&mutex);
  if (result == 0) record('S', number, own, "", 0, "", 0);
  pthread_mutex_unlock(&mutex);
  return result;
}

int fsync(int fd) { return synced(fd, REAL(fsync)); }
int fdatasync(int fd) { return synced(fd, REAL(fdatasync)); }

static int changed(char type, const char *one, const char *two, int result) {
  const char *from = within(one), *to = two ? within(two) : "";
  if (result == 0 && from && to) record(type, 0, 0, from, strlen(from), to, strlen(to));
  pthread_mutex_unlock(&mutex);
  return result;
}

#define LOCKED pthread_mutex_lock(&mutex) ? -1 :
int rename(const char *one, const char *two) { return changed('R', one, two, LOCKED REAL(rename)(one, two)); }
int link(const char *one, const char *two) { return changed('L', one, two, LOCKED REAL(link)(one, two)); }
int unlink(const char *path) { return changed('U', path, NULL, LOCKED REAL(unlink)(path)); }
int rmdir(const char *path) { return changed('D', path, NULL, LOCKED REAL(rmdir)(path)); }
int mkdir(const char *path, mode_t mode) { return changed('M', path, NULL, LOCKED REAL(mkdir)(path, mode)); }
