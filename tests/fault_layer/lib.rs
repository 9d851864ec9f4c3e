//! A layer of Vulkan, between a program and its driver, whose device is lost, hangs, has no memory or does nothing.
//! With it `tests/gpu/gpu_process.rs` runs the delivered program, and other tests run themselves again. The product has
//! no code that injects faults.
//!
//! A test of the same process chooses a fault by [`kalah_fault`]. For other programs `KALAH_FAULT` is the fault;
//! without it the layer does nothing. `KALAH_FAULT_AFTER` is the number of submissions before it.
//! - `reject`: submissions, and waiting for them, return that the device is lost.
//! - `lose`: only waiting does.
//! - `hang`: no submission ends. When the program ends by `exit`, the layer aborts it. Some drivers crash like this,
//!   since their threads still work when the destructors run.
//!
//! `KALAH_FAULT_COUNT` is a file into which the layer writes the number of submissions.
//!
//! The layer fits programs that wait with timeline semaphores, as wgpu does wherever they exist.

use std::ffi::{CStr, c_char, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, Once};
use std::time::Duration;

use ash::vk::{self, Handle};

/// `VkNegotiateLayerInterface` of the loader.
#[repr(C)]
#[derive(Debug)]
pub struct Negotiation {
    kind: i32,
    next: *mut c_void,
    version: u32,
    instance_function: Option<vk::PFN_vkGetInstanceProcAddr>,
    device_function: Option<vk::PFN_vkGetDeviceProcAddr>,
    physical_device_function: Option<vk::PFN_vkGetInstanceProcAddr>,
}

/// The common part of the loader's `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`.
#[repr(C)]
struct Chain {
    kind: vk::StructureType,
    next: *mut Chain,
    function: i32,
    link: *mut Link,
}

/// `VkLayerInstanceLink` and `VkLayerDeviceLink`: the next layer on the way to the driver.
#[repr(C)]
struct Link {
    next: *mut Link,
    instance_function: vk::PFN_vkGetInstanceProcAddr,
    /// Function of a device. For an instance it is another function, which is not used.
    device_function: vk::PFN_vkGetDeviceProcAddr,
}

/// Next functions on the way to the driver, for the instance and the device that were created last.
struct Next {
    instance: vk::Instance,
    instance_function: Option<vk::PFN_vkGetInstanceProcAddr>,
    device_function: Option<vk::PFN_vkGetDeviceProcAddr>,
    /// Functions of the device. They outlive it, since other devices of its driver have the same.
    functions: [vk::PFN_vkVoidFunction; FUNCTIONS.len()],
}

/// Functions of a device that this layer calls.
const FUNCTIONS: [&CStr; 7] = [
    c"vkCmdDispatch",
    c"vkCreateBuffer",
    c"vkDeviceWaitIdle",
    c"vkGetSemaphoreCounterValue",
    c"vkQueueSubmit",
    c"vkQueueWaitIdle",
    c"vkWaitSemaphores",
];

static NEXT: Mutex<Next> = Mutex::new(Next {
    instance: vk::Instance::null(),
    instance_function: None,
    device_function: None,
    functions: [None; FUNCTIONS.len()],
});

static SUBMISSIONS: AtomicU64 = AtomicU64::new(0);

/// Number of buffers requested since the last choice of a fault.
static BUFFERS: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Buffers are refused.
    Refused,
    /// Kernels do nothing, as on hardware that a driver only pretends to have.
    Idle,
    Rejected,
    Lost,
    Hang,
}

/// The fault, and the numbers from 0 of the buffers or submissions that have it.
static CHOSEN: LazyLock<Mutex<(Fault, Range<u64>)>> = LazyLock::new(|| {
    let value = |name| std::env::var(name).unwrap_or_default();
    let fault = match &*value("KALAH_FAULT") {
        "reject" => Fault::Rejected,
        "lose" => Fault::Lost,
        "hang" => Fault::Hang,
        _ => Fault::None,
    };
    Mutex::new((fault, value("KALAH_FAULT_AFTER").parse().unwrap_or_default()..u64::MAX))
});

/// Chooses the fault that the device has from now on: 0 for none, 1 to refuse the buffers with the numbers from `first`
/// to below `end`, 2 for kernels that do nothing, and 3 for a loss. Returns the number of buffers requested since the
/// last call.
#[unsafe(no_mangle)]
pub extern "C" fn kalah_fault(kind: u32, first: u64, end: u64) -> u64 {
    *CHOSEN.lock().unwrap() = match kind {
        1 => (Fault::Refused, first..end),
        2 => (Fault::Idle, 0..0),
        3 => (Fault::Rejected, SUBMISSIONS.load(Ordering::SeqCst)..u64::MAX),
        _ => (Fault::None, 0..0),
    };
    BUFFERS.swap(0, Ordering::SeqCst)
}

/// The fault of the last submission.
fn fault() -> Fault {
    let (fault, numbers) = &*CHOSEN.lock().unwrap();
    if SUBMISSIONS.load(Ordering::SeqCst) > numbers.start { *fault } else { Fault::None }
}

/// Aborts the program when it ends by `exit`.
fn forbid_exit() {
    static ONCE: Once = Once::new();
    extern "C" fn crash() {
        std::process::abort();
    }
    // SAFETY: the function may be called at any time, and this library stays loaded to the end of the process.
    ONCE.call_once(|| unsafe {
        libc::atexit(crash);
    });
}

/// Behaves as a driver that hangs does in a wait without limit.
fn wait_for_ever() -> ! {
    loop {
        std::thread::park();
    }
}

/// Converts a function pointer to the expected type.
///
/// # Safety
/// The function must be of that type.
unsafe fn typed<F: Copy>(function: vk::PFN_vkVoidFunction) -> F {
    let function = function.expect("the driver has it");
    assert_eq!(size_of::<F>(), size_of_val(&function));
    // SAFETY: guaranteed by the caller.
    unsafe { std::mem::transmute_copy(&function) }
}

/// Returns a function of the next instance.
///
/// # Safety
/// The name must be that of a function of this type.
unsafe fn next_of_instance<F: Copy>(instance: vk::Instance, name: &CStr) -> F {
    let next = NEXT.lock().unwrap().instance_function.expect("an instance");
    // SAFETY: the loader passed the function; the caller guarantees the type.
    unsafe { typed(next(instance, name.as_ptr())) }
}

/// Calls a function of the next device: one of [`FUNCTIONS`].
macro_rules! next_of_device {
    ($name:literal, $kind:ty, $($argument:expr),*) => {{
        let place = FUNCTIONS.iter().position(|function| *function == $name).expect("a function of this layer");
        let function = NEXT.lock().unwrap().functions[place];
        // SAFETY: the driver passed the function of this name. Its arguments are the caller's, passed on.
        unsafe { typed::<$kind>(function)($($argument),*) }
    }};
}

/// Takes the link to the next layer from the chain of `info`, so that the next layer finds its own link there.
///
/// # Safety
/// `info` must be the argument that the loader passes to a layer.
unsafe fn link(info: *const c_void, kind: vk::StructureType) -> *const Link {
    let mut chain = info.cast::<Chain>().cast_mut();
    // SAFETY: all structures of a chain begin alike, and those of this kind are of this type.
    unsafe {
        while (*chain).kind != kind || (*chain).function != 0 {
            chain = (*chain).next;
            assert!(!chain.is_null(), "the loader passes a link");
        }
        let link = (*chain).link;
        (*chain).link = (*link).next;
        link
    }
}

unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: called by the loader.
    unsafe {
        let link = link((*info).p_next, vk::StructureType::LOADER_INSTANCE_CREATE_INFO);
        NEXT.lock().unwrap().instance_function = Some((*link).instance_function);
        let create: vk::PFN_vkCreateInstance = next_of_instance(vk::Instance::null(), c"vkCreateInstance");
        let result = create(info, allocator, instance);
        if result == vk::Result::SUCCESS {
            NEXT.lock().unwrap().instance = *instance;
        }
        result
    }
}

unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    // SAFETY: called by the loader.
    unsafe {
        let link = link((*info).p_next, vk::StructureType::LOADER_DEVICE_CREATE_INFO);
        let instance = NEXT.lock().unwrap().instance;
        let create: vk::PFN_vkCreateDevice = next_of_instance(instance, c"vkCreateDevice");
        let device_function = (*link).device_function;
        let result = create(physical, info, allocator, device);
        if result == vk::Result::SUCCESS {
            let mut next = NEXT.lock().unwrap();
            next.device_function = Some(device_function);
            next.functions = FUNCTIONS.map(|name| device_function(*device, name.as_ptr()));
        }
        result
    }
}

unsafe extern "system" fn queue_submit(
    queue: vk::Queue,
    count: u32,
    submissions: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let number = SUBMISSIONS.fetch_add(1, Ordering::SeqCst) + 1;
    if let Some(file) = std::env::var_os("KALAH_FAULT_COUNT") {
        let _ = std::fs::write(file, number.to_string());
    }
    match fault() {
        // SAFETY: the program uses the queue.
        Fault::Rejected => unsafe { queue_wait_idle(queue) },
        Fault::Lost => vk::Result::SUCCESS,
        Fault::Hang => {
            forbid_exit();
            vk::Result::SUCCESS
        }
        _ => next_of_device!(c"vkQueueSubmit", vk::PFN_vkQueueSubmit, queue, count, submissions, fence),
    }
}

unsafe extern "system" fn wait_semaphores(
    device: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    // `wgpu` requests either name, and both are the same function.
    let wait = |timeout: u64| next_of_device!(c"vkWaitSemaphores", vk::PFN_vkWaitSemaphores, device, info, timeout);
    match fault() {
        Fault::Rejected | Fault::Lost => vk::Result::ERROR_DEVICE_LOST,
        // Submissions from before the fault end. Later ones never do, so a short wait shows the same as a long one.
        Fault::Hang => match wait(timeout.min(Duration::from_millis(250).as_nanos() as u64)) {
            vk::Result::TIMEOUT if timeout == u64::MAX => wait_for_ever(),
            result => result,
        },
        _ => wait(timeout),
    }
}

unsafe extern "system" fn semaphore_value(device: vk::Device, semaphore: vk::Semaphore, value: *mut u64) -> vk::Result {
    match fault() {
        Fault::Rejected | Fault::Lost => vk::Result::ERROR_DEVICE_LOST,
        _ => {
            next_of_device!(c"vkGetSemaphoreCounterValue", vk::PFN_vkGetSemaphoreCounterValue, device, semaphore, value)
        }
    }
}

unsafe extern "system" fn device_wait_idle(device: vk::Device) -> vk::Result {
    match fault() {
        Fault::Rejected | Fault::Lost => vk::Result::ERROR_DEVICE_LOST,
        Fault::Hang => wait_for_ever(),
        _ => next_of_device!(c"vkDeviceWaitIdle", vk::PFN_vkDeviceWaitIdle, device),
    }
}

/// After a loss, as after a reset, no work of the queue goes on, so a program may free its memory.
unsafe extern "system" fn queue_wait_idle(queue: vk::Queue) -> vk::Result {
    let fault = fault();
    if fault == Fault::Hang {
        wait_for_ever();
    }
    let waited = next_of_device!(c"vkQueueWaitIdle", vk::PFN_vkQueueWaitIdle, queue);
    if matches!(fault, Fault::Rejected | Fault::Lost) { vk::Result::ERROR_DEVICE_LOST } else { waited }
}

unsafe extern "system" fn create_buffer(
    device: vk::Device,
    info: *const vk::BufferCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    buffer: *mut vk::Buffer,
) -> vk::Result {
    let number = BUFFERS.fetch_add(1, Ordering::SeqCst);
    let (fault, numbers) = CHOSEN.lock().unwrap().clone();
    if fault == Fault::Refused && numbers.contains(&number) {
        return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
    }
    next_of_device!(c"vkCreateBuffer", vk::PFN_vkCreateBuffer, device, info, allocator, buffer)
}

unsafe extern "system" fn dispatch(commands: vk::CommandBuffer, x: u32, y: u32, z: u32) {
    if CHOSEN.lock().unwrap().0 != Fault::Idle {
        next_of_device!(c"vkCmdDispatch", vk::PFN_vkCmdDispatch, commands, x, y, z);
    }
}

/// Converts a function to the one type that Vulkan uses for all functions.
macro_rules! erased {
    ($function:expr, $kind:ty) => {{
        let function: $kind = $function;
        // SAFETY: pointers to functions have the same size. Callers take the type from the name.
        Some(unsafe { std::mem::transmute::<$kind, unsafe extern "system" fn()>(function) })
    }};
}

/// Functions of a device that this layer replaces.
fn own(name: &CStr) -> vk::PFN_vkVoidFunction {
    match name.to_bytes() {
        b"vkGetDeviceProcAddr" => erased!(device_function, vk::PFN_vkGetDeviceProcAddr),
        b"vkCreateBuffer" => erased!(create_buffer, vk::PFN_vkCreateBuffer),
        b"vkCmdDispatch" => erased!(dispatch, vk::PFN_vkCmdDispatch),
        b"vkQueueSubmit" => erased!(queue_submit, vk::PFN_vkQueueSubmit),
        b"vkWaitSemaphores" | b"vkWaitSemaphoresKHR" => erased!(wait_semaphores, vk::PFN_vkWaitSemaphores),
        b"vkGetSemaphoreCounterValue" | b"vkGetSemaphoreCounterValueKHR" => {
            erased!(semaphore_value, vk::PFN_vkGetSemaphoreCounterValue)
        }
        b"vkDeviceWaitIdle" => erased!(device_wait_idle, vk::PFN_vkDeviceWaitIdle),
        b"vkQueueWaitIdle" => erased!(queue_wait_idle, vk::PFN_vkQueueWaitIdle),
        _ => None,
    }
}

unsafe extern "system" fn device_function(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller passes a string.
    let own = own(unsafe { CStr::from_ptr(name) });
    let next = NEXT.lock().unwrap().device_function.expect("a device");
    // SAFETY: the caller's arguments, passed on.
    own.or_else(|| unsafe { next(device, name) })
}

unsafe extern "system" fn instance_function(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller passes a string.
    let wanted = unsafe { CStr::from_ptr(name) };
    let own = match wanted.to_bytes() {
        b"vkGetInstanceProcAddr" => erased!(instance_function, vk::PFN_vkGetInstanceProcAddr),
        b"vkCreateInstance" => erased!(create_instance, vk::PFN_vkCreateInstance),
        b"vkCreateDevice" => erased!(create_device, vk::PFN_vkCreateDevice),
        _ => own(wanted),
    };
    let next = NEXT.lock().unwrap().instance_function;
    // SAFETY: the caller's arguments, passed on. Without an instance there is no next function.
    own.or_else(|| next.and_then(|next| if instance.is_null() { None } else { unsafe { next(instance, name) } }))
}

/// The entry point of a layer.
///
/// # Safety
/// `negotiation` must be the pointer that the loader passes.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the loader looks for this name")]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(negotiation: *mut Negotiation) -> vk::Result {
    // SAFETY: the loader passes a pointer.
    let negotiation = unsafe { &mut *negotiation };
    negotiation.version = negotiation.version.min(2);
    negotiation.instance_function = Some(instance_function);
    negotiation.device_function = Some(device_function);
    negotiation.physical_device_function = None;
    vk::Result::SUCCESS
}
