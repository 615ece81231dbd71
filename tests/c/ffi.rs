// Uses the C library from Rust: declarations as a binding would have them, and one picture.

use std::ffi::{c_char, c_void, CStr, CString};
use std::ptr;

#[repr(C)]
struct Format {
    size: usize,
    width: i32,
    height: i32,
    layout: i32,
    sample: i32,
    bits: i32,
    shift_x: i32,
    shift_y: i32,
    white: f32,
    content: i32,
    frames: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Plane {
    data: *mut c_void,
    row_stride: isize,
    sample_stride: isize,
}

#[repr(C)]
struct Frame {
    size: usize,
    planes: [Plane; 3],
    memory: i32,
    device: i32,
    stream: *mut c_void,
    fd: i32,
    is_numbered: i32,
    number: i64,
    tag: i64,
    release: Option<extern "C" fn(*mut c_void)>,
    user: *mut c_void,
}

#[link(name = "lull")]
extern "C" {
    fn lull_version() -> *const c_char;
    fn lull_last_error() -> *const c_char;
    fn lull_params_new(params: *mut *mut c_void) -> i32;
    fn lull_params_set(params: *mut c_void, name: *const c_char, value: *const c_char) -> i32;
    fn lull_params_free(params: *mut c_void);
    fn lull_session_open(
        format: *const Format,
        params: *const c_void,
        options: *const c_void,
        session: *mut *mut c_void,
    ) -> i32;
    fn lull_push(session: *mut c_void, frame: *const Frame) -> i32;
    fn lull_drain(session: *mut c_void, result: *mut Frame) -> i32;
    fn lull_session_close(session: *mut c_void);
}

fn text(at: *const c_char) -> String {
    unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
}

fn check(status: i32) {
    assert!(status == 0, "status {}: {}", status, text(unsafe { lull_last_error() }));
}

fn frame(samples: &mut [u8], width: usize) -> Frame {
    let none = Plane { data: ptr::null_mut(), row_stride: 0, sample_stride: 0 };
    let data = samples.as_mut_ptr() as *mut c_void;
    Frame {
        size: std::mem::size_of::<Frame>(),
        planes: [Plane { data, row_stride: width as isize, sample_stride: 0 }, none, none],
        memory: 0,
        device: 0,
        stream: ptr::null_mut(),
        fd: 0,
        is_numbered: 0,
        number: 0,
        tag: 9,
        release: None,
        user: ptr::null_mut(),
    }
}

extern "C" fn count(user: *mut c_void) {
    unsafe { *(user as *mut u32) += 1 };
}

fn main() {
    let (width, height) = (48usize, 40usize);
    let mut seed = 1u32;
    let mut noisy: Vec<u8> = (0..width * height)
        .map(|i| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (80 + (i % width) as u32 + (seed >> 24) / 4) as u8
        })
        .collect();
    let mut clean = vec![0u8; width * height];
    let original = noisy.clone();
    let mut released = 0u32;
    unsafe {
        let mut params = ptr::null_mut();
        check(lull_params_new(&mut params));
        for (name, value) in [("sigma", "18"), ("profile", "fast"), ("device", "cpu")] {
            let (name, value) = (CString::new(name).unwrap(), CString::new(value).unwrap());
            check(lull_params_set(params, name.as_ptr(), value.as_ptr()));
        }
        let format = Format {
            size: std::mem::size_of::<Format>(),
            width: width as i32,
            height: height as i32,
            layout: 0,
            sample: 0,
            bits: 0,
            shift_x: 0,
            shift_y: 0,
            white: 0.0,
            content: 1,
            frames: 1,
        };
        let mut session = ptr::null_mut();
        check(lull_session_open(&format, params, ptr::null(), &mut session));
        lull_params_free(params);
        let mut from = frame(&mut noisy, width);
        from.release = Some(count);
        from.user = &mut released as *mut u32 as *mut c_void;
        check(lull_push(session, &from));
        let mut to = frame(&mut clean, width);
        to.tag = 0;
        check(lull_drain(session, &mut to));
        assert_eq!(to.tag, 9);
        assert_eq!(lull_drain(session, &mut to), 1);
        assert_eq!(lull_push(session, ptr::null()), -1);
        lull_session_close(session);
    }
    assert_eq!(released, 1);
    let steps = |samples: &[u8]| -> u64 {
        samples.windows(2).map(|pair| pair[0].abs_diff(pair[1]) as u64).sum()
    };
    assert!(steps(&clean) < steps(&original) / 2, "the noise is not removed");
    println!("Rust: liblull {}", text(unsafe { lull_version() }));
}
