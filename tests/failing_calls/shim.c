/* Makes one system call of a program fail, or kills the program there. Load it with LD_PRELOAD.
 *
 *   SHIM_UNDER   beginning of paths: only calls for such files count
 *   SHIM_CALLS   calls that count: "none"; "shared", "mapped": shared or all mappings of files; "lock": locks;
 *                "folder": synchronising a folder. Otherwise, all calls count.
 *   SHIM_AT      number of the call, from 1; 0 for no call
 *   SHIM_ERROR   error of the call
 *   SHIM_MODE    "once"; "on": that call and all later ones fail; "kill": the process dies by SIGKILL at the call
 *   SHIM_COUNT   file to which the number of calls is written at the end
 *
 * seccomp catches the calls, even those that a library makes without libc. The filter turns a call into SIGSYS, whose
 * handler makes the call or not. The handler makes its own calls at one address, which the filter allows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Exit code if the system has no such filters. */
#define UNAVAILABLE 77

long shim_gate(long number, long a, long b, long c, long d, long e, long f);
extern char shim_gate_end[];

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define REGISTER(context, index) \
    ((context)->uc_mcontext.gregs[(int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9}[index]])
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
__asm__(".text\n.globl shim_gate\n.type shim_gate, @function\nshim_gate:\n"
        "mov %rdi, %rax\nmov %rsi, %rdi\nmov %rdx, %rsi\nmov %rcx, %rdx\nmov %r8, %r10\nmov %r9, %r8\n"
        "mov 8(%rsp), %r9\n"
        "syscall\n.globl shim_gate_end\nshim_gate_end:\nret\n");
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define REGISTER(context, index) ((context)->uc_mcontext.regs[index])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
__asm__(".text\n.globl shim_gate\n.type shim_gate, %function\nshim_gate:\n"
        "mov x8, x0\nmov x0, x1\nmov x1, x2\nmov x2, x3\nmov x3, x4\nmov x4, x5\nmov x5, x6\n"
        "svc #0\n.globl shim_gate_end\nshim_gate_end:\nret\n");
#endif

/* Numbers of the calls, with the argument that is a path or a file. */
static const struct { int number, argument, is_path; } calls[] = {
#ifdef SYS_open
    {SYS_open, 0, 1}, {SYS_rename, 0, 1}, {SYS_unlink, 0, 1}, {SYS_link, 0, 1}, {SYS_mkdir, 0, 1},
#endif
#ifdef SYS_renameat
    {SYS_renameat, 1, 1},
#endif
    {SYS_openat, 1, 1}, {SYS_renameat2, 1, 1}, {SYS_unlinkat, 1, 1}, {SYS_linkat, 1, 1}, {SYS_mkdirat, 1, 1},
    {SYS_write, 0, 0}, {SYS_writev, 0, 0}, {SYS_pwrite64, 0, 0}, {SYS_pwritev2, 0, 0}, {SYS_fsync, 0, 0},
    {SYS_fdatasync, 0, 0}, {SYS_ftruncate, 0, 0}, {SYS_fallocate, 0, 0}, {SYS_mmap, 4, 0},
    {SYS_flock, 0, 0},
};
#define CALLS (sizeof calls / sizeof *calls)

static const char *under, *only;
static long at, error;
static int goes_on, kills;
static atomic_long count;

static int is_under(const char *path) {
    return strncmp(path, under, strlen(under)) == 0;
}

static int is_chosen(int number, const long *arguments) {
    struct stat status;
    if (!*only) return 1;
    if (!strcmp(only, "shared")) return number == SYS_mmap && (arguments[3] & MAP_TYPE) == MAP_SHARED;
    if (!strcmp(only, "mapped")) return number == SYS_mmap;
    if (!strcmp(only, "none")) return 0;
    if (!strcmp(only, "lock")) return number == SYS_flock;
    return number == SYS_fsync && !fstat(arguments[0], &status) && S_ISDIR(status.st_mode);
}

static int is_counted(int number, const long *arguments) {
    size_t call = 0;
    while (call < CALLS && calls[call].number != number) call++;
    if (call == CALLS || (number == SYS_mmap && arguments[3] & MAP_ANONYMOUS)) return 0;
    if (!is_chosen(number, arguments)) return 0;
    long argument = arguments[calls[call].argument];
    if (calls[call].is_path) return argument && is_under((const char *)argument);
    char link[64], path[1024];
    snprintf(link, sizeof link, "/proc/self/fd/%d", (int)argument);
    long length = shim_gate(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, sizeof path - 1, 0, 0);
    if (length < 0) return 0;
    path[length] = 0;
    return is_under(path);
}

static void on_call(int signal, siginfo_t *info, void *data) {
    (void)signal;
    ucontext_t *context = data;
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = REGISTER(context, i);
    if (is_counted(info->si_syscall, a)) {
        long number = atomic_fetch_add(&count, 1) + 1;
        if (at > 0 && (number == at || (goes_on && number > at))) {
            if (kills) shim_gate(SYS_kill, shim_gate(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGKILL, 0, 0, 0, 0);
            RESULT(context) = -error;
            return;
        }
    }
    RESULT(context) = shim_gate(info->si_syscall, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

__attribute__((constructor)) static void begin(void) {
    under = variable("SHIM_UNDER");
    only = variable("SHIM_CALLS");
    at = atol(variable("SHIM_AT"));
    error = atol(variable("SHIM_ERROR"));
    goes_on = strcmp(variable("SHIM_MODE"), "on") == 0;
    kills = strcmp(variable("SHIM_MODE"), "kill") == 0;
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    sigaction(SIGSYS, &action, NULL);

    struct sock_filter filter[8 + 2 * CALLS + 1];
    size_t n = 0;
    uint64_t gate = (uint64_t)(uintptr_t)shim_gate_end;
#define FIELD(name) (uint32_t) offsetof(struct seccomp_data, name)
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(arch));
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(instruction_pointer) + 4);
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(gate >> 32), 0, 3);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(instruction_pointer));
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)gate, 0, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(nr));
    for (size_t call = 0; call < CALLS; call++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[call].number, 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    }
    struct sock_filter all[sizeof filter / sizeof *filter + 1];
    memcpy(all, filter, n * sizeof *filter);
    all[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = n, .filter = all};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(UNAVAILABLE);
}

__attribute__((destructor)) static void end(void) {
    const char *path = variable("SHIM_COUNT");
    if (!*path) return;
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&count));
    long file = shim_gate(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_TRUNC, 0600, 0, 0);
    shim_gate(SYS_write, file, (long)text, length, 0, 0, 0);
}
