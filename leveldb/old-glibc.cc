// Lets a file that is linked with a new glibc load with glibc 2.28: defines the symbols that the C++ runtime takes from later
// versions, by their earlier ones.
#include <pthread.h>
#include <sys/stat.h>

extern "C" {

__asm__(".symver old_create, pthread_create@GLIBC_2.2.5");
int old_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  return old_create(thread, attributes, start, argument);
}

__asm__(".symver old_once, pthread_once@GLIBC_2.2.5");
int old_once(pthread_once_t*, void (*)());
int __wrap_pthread_once(pthread_once_t* control, void (*start)()) { return old_once(control, start); }

__asm__(".symver old_key_create, __pthread_key_create@GLIBC_2.2.5");
int old_key_create(pthread_key_t*, void (*)(void*));
int __wrap___pthread_key_create(pthread_key_t* key, void (*end)(void*)) { return old_key_create(key, end); }

__asm__(".symver old_stat, __xstat@GLIBC_2.2.5");
int old_stat(int, const char*, struct stat*);
// 1 is the version of `struct stat` on x86-64.
int __wrap_stat(const char* path, struct stat* result) { return old_stat(1, path, result); }

// Atomic operations are always needed: Node has many threads.
char __libc_single_threaded = 0;

// Only for exceptions, which end the process here.
int _dl_find_object(void*, void*) { return -1; }
}
