//! A layer of Vulkan, between a program and its driver, whose device is lost, hangs, has no memory or does nothing.
//! With it `tests/gpu/gpu_process.rs` runs the delivered program, and other tests run themselves again. The product has
//! no code that injects faults.
//!
//! A test of the same process chooses a fault by [`kalah_fault`]. For other programs `KALAH_FAULT` is the fault;
//! without it the layer does nothing. `KALAH_FAULT_AFTER` is the number of submissions
//! before it.
//! - `reject`: submissions, and waiting for them, return that the device is lost.
//! - `lose`: only waiting does.
//! - `hang`: no submission ends. When the program ends by `exit`, the layer aborts it. Some drivers crash like
//!   this, since their threads still work when the destructors run.
//!
//! `KALAH_FAULT_COUNT` is a file into which the layer writes the number of submissions.
//!
//! The layer fits programs that wait with timeline semaphores, as wgpu does wherever they exist.

use std::ffi::{CStr, c_char, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};
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

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Rejected,
    Lost,
    Hang,
}

/// A fault chosen by a test of the same process.
enum Chosen {
    None,
    /// Buffers with these numbers are refused, from 0 for the next one.
    Refused(Range<u64>),
    /// Kernels do nothing, as on hardware that a driver only pretends to have.
    Idle,
    /// Every submission after this number is lost, or does not end.
    After(u64, Fault),
}

static CHOSEN: Mutex<Chosen> = Mutex::new(Chosen::None);

/// Number of buffers requested since the last choice.
static BUFFERS: AtomicU64 = AtomicU64::new(0);

/// Chooses the fault that the device has from now on: 0 for none, 1 to refuse the buffers with the numbers from `first`
/// to below `end`, 2 for kernels that do nothing, 3 for a loss and 4 for a hang after `first` submissions. Returns the
/// number of buffers requested since the last call.
#[unsafe(no_mangle)]
pub extern "C" fn kalah_fault(kind: u32, first: u64, end: u64) -> u64 {
    let after = SUBMISSIONS.load(Ordering::SeqCst) + first;
    *CHOSEN.lock().unwrap_or_else(PoisonError::into_inner) = match kind {
        1 => Chosen::Refused(first..end),
        2 => Chosen::Idle,
        3 => Chosen::After(after, Fault::Rejected),
        4 => Chosen::After(after, Fault::Hang),
        _ => Chosen::None,
    };
    BUFFERS.swap(0, Ordering::SeqCst)
}

/// The fault that the device has after the submissions so far.
fn fault() -> Option<Fault> {
    if let Chosen::After(after, fault) = *CHOSEN.lock().unwrap_or_else(PoisonError::into_inner) {
        return (SUBMISSIONS.load(Ordering::SeqCst) > after).then_some(fault);
    }
    let fault = match std::env::var("KALAH_FAULT").ok()?.as_str() {
        "reject" => Fault::Rejected,
        "lose" => Fault::Lost,
        "hang" => Fault::Hang,
        _ => return None,
    };
    let after: u64 = std::env::var("KALAH_FAULT_AFTER").ok()?.parse().ok()?;
    (SUBMISSIONS.load(Ordering::SeqCst) > after).then_some(fault)
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
    let next = NEXT.lock().unwrap_or_else(PoisonError::into_inner).instance_function.expect("an instance");
    // SAFETY: the loader passed the function; the caller guarantees the type.
    unsafe { typed(next(instance, name.as_ptr())) }
}

/// Returns a function of the next device: one of [`FUNCTIONS`].
///
/// # Safety
/// The name must be that of a function of this type.
unsafe fn next_of_device<F: Copy>(name: &CStr) -> F {
    let place = FUNCTIONS.iter().position(|function| *function == name).expect("a function of this layer");
    let function = NEXT.lock().unwrap_or_else(PoisonError::into_inner).functions[place];
    // SAFETY: the driver passed the function; the caller guarantees the type.
    unsafe { typed(function) }
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
        NEXT.lock().unwrap_or_else(PoisonError::into_inner).instance_function = Some((*link).instance_function);
        let create: vk::PFN_vkCreateInstance = next_of_instance(vk::Instance::null(), c"vkCreateInstance");
        let result = create(info, allocator, instance);
        if result == vk::Result::SUCCESS {
            NEXT.lock().unwrap_or_else(PoisonError::into_inner).instance = *instance;
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
        let instance = NEXT.lock().unwrap_or_else(PoisonError::into_inner).instance;
        let create: vk::PFN_vkCreateDevice = next_of_instance(instance, c"vkCreateDevice");
        let device_function = (*link).device_function;
        let result = create(physical, info, allocator, device);
        if result == vk::Result::SUCCESS {
            let mut next = NEXT.lock().unwrap_or_else(PoisonError::into_inner);
            next.device_function = Some(device_function);
            next.functions = FUNCTIONS.map(|name| device_function(*device, name.as_ptr()));
        }
        result
    }
}

/// The answer of a lost queue. As after a reset, none of its work goes on, so a program may free its memory.
fn lost(queue: vk::Queue) -> vk::Result {
    // SAFETY: the program uses the queue.
    let _ = unsafe {
        let wait: vk::PFN_vkQueueWaitIdle = next_of_device(c"vkQueueWaitIdle");
        wait(queue)
    };
    vk::Result::ERROR_DEVICE_LOST
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
        Some(Fault::Rejected) => lost(queue),
        Some(Fault::Lost) => vk::Result::SUCCESS,
        Some(Fault::Hang) => {
            if std::env::var_os("KALAH_FAULT").is_some() {
                forbid_exit();
            }
            vk::Result::SUCCESS
        }
        // SAFETY: the caller's arguments, passed on.
        None => unsafe {
            let submit: vk::PFN_vkQueueSubmit = next_of_device(c"vkQueueSubmit");
            submit(queue, count, submissions, fence)
        },
    }
}

unsafe extern "system" fn wait_semaphores(
    device: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    // SAFETY: the caller's arguments, passed on. `wgpu` requests either name, and both are the same function.
    let wait = |timeout: u64| unsafe {
        let wait: vk::PFN_vkWaitSemaphores = next_of_device(c"vkWaitSemaphores");
        wait(device, info, timeout)
    };
    match fault() {
        Some(Fault::Rejected | Fault::Lost) => vk::Result::ERROR_DEVICE_LOST,
        // Submissions from before the fault end. Later ones never do, so a short wait shows the same as a long one.
        Some(Fault::Hang) => match wait(timeout.min(Duration::from_millis(250).as_nanos() as u64)) {
            vk::Result::TIMEOUT if timeout == u64::MAX => wait_for_ever(),
            result => result,
        },
        None => wait(timeout),
    }
}

unsafe extern "system" fn semaphore_value(device: vk::Device, semaphore: vk::Semaphore, value: *mut u64) -> vk::Result {
    match fault() {
        Some(Fault::Rejected | Fault::Lost) => vk::Result::ERROR_DEVICE_LOST,
        // SAFETY: the caller's arguments, passed on.
        Some(Fault::Hang) | None => unsafe {
            let get: vk::PFN_vkGetSemaphoreCounterValue = next_of_device(c"vkGetSemaphoreCounterValue");
            get(device, semaphore, value)
        },
    }
}

unsafe extern "system" fn device_wait_idle(device: vk::Device) -> vk::Result {
    match fault() {
        Some(Fault::Rejected | Fault::Lost) => vk::Result::ERROR_DEVICE_LOST,
        Some(Fault::Hang) => wait_for_ever(),
        // SAFETY: the caller's argument, passed on.
        None => unsafe {
            let wait: vk::PFN_vkDeviceWaitIdle = next_of_device(c"vkDeviceWaitIdle");
            wait(device)
        },
    }
}

unsafe extern "system" fn queue_wait_idle(queue: vk::Queue) -> vk::Result {
    match fault() {
        Some(Fault::Rejected | Fault::Lost) => lost(queue),
        Some(Fault::Hang) => wait_for_ever(),
        // SAFETY: the caller's argument, passed on.
        None => unsafe {
            let wait: vk::PFN_vkQueueWaitIdle = next_of_device(c"vkQueueWaitIdle");
            wait(queue)
        },
    }
}

unsafe extern "system" fn create_buffer(
    device: vk::Device,
    info: *const vk::BufferCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    buffer: *mut vk::Buffer,
) -> vk::Result {
    let number = BUFFERS.fetch_add(1, Ordering::SeqCst);
    match &*CHOSEN.lock().unwrap_or_else(PoisonError::into_inner) {
        Chosen::Refused(numbers) if numbers.contains(&number) => return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
        _ => {}
    }
    // SAFETY: the caller's arguments, passed on.
    unsafe {
        let create: vk::PFN_vkCreateBuffer = next_of_device(c"vkCreateBuffer");
        create(device, info, allocator, buffer)
    }
}

unsafe extern "system" fn dispatch(commands: vk::CommandBuffer, x: u32, y: u32, z: u32) {
    if matches!(*CHOSEN.lock().unwrap_or_else(PoisonError::into_inner), Chosen::Idle) {
        return;
    }
    // SAFETY: the caller's arguments, passed on.
    unsafe {
        let dispatch: vk::PFN_vkCmdDispatch = next_of_device(c"vkCmdDispatch");
        dispatch(commands, x, y, z)
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
    let next = NEXT.lock().unwrap_or_else(PoisonError::into_inner).device_function.expect("a device");
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
    let next = NEXT.lock().unwrap_or_else(PoisonError::into_inner).instance_function;
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
