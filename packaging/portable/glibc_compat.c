/* Functions of glibc 2.32 to 2.36 that the static libstdc++ and libgcc of the build machine call, for
 * programs that run with glibc 2.28. Every program and shared library of the portable build contains
 * this file; its symbols are hidden, so that they replace nothing elsewhere. */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Nonzero would permit reference counts without atomic operations (glibc 2.32). */
HIDDEN char __libc_single_threaded = 0;

/* glibc 2.36. std::random_device calls it. */
HIDDEN uint32_t arc4random(void) {
  uint32_t value = 0;
  size_t filled = 0;
  while (filled < sizeof value) {
    const ssize_t count = getrandom((char*)&value + filled, sizeof value - filled, 0);
    if (count < 0) abort();
    filled += (size_t)count;
  }
  return value;
}

/* struct dl_find_object of x86-64 in glibc's <dlfcn.h>. It has another name here, because newer headers
 * define it. */
struct found_object {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  struct link_map* link_map;
  void* eh_frame;
  unsigned long long reserved[7];
};

struct search {
  uintptr_t address;
  struct found_object* result;
};

static int visit_object(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  const struct search* search = data;
  uintptr_t start = UINTPTR_MAX, end = 0, eh_frame = 0;
  int contains = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) eh_frame = begin;
    if (header->p_type != PT_LOAD) continue;
    if (begin < start) start = begin;
    if (begin + header->p_memsz > end) end = begin + header->p_memsz;
    contains |= search->address >= begin && search->address < begin + header->p_memsz;
  }
  if (!contains || eh_frame == 0) return 0;
  search->result->map_start = (void*)start;
  search->result->map_end = (void*)end;
  search->result->eh_frame = (void*)eh_frame;
  return 1;
}

/* glibc 2.35. The unwinder of exceptions looks for the object that contains an address. */
HIDDEN int find_object(void* address, struct found_object* result) __asm__("_dl_find_object");
int find_object(void* address, struct found_object* result) {
  struct search search = {(uintptr_t)address, result};
  *result = (struct found_object){0};
  return dl_iterate_phdr(visit_object, &search) == 1 ? 0 : -1;
}
