"""Opens pages that lull wrote in a real browser: look_at_report.py LULL

Creates a clip, denoises it with --report, and checks the page in Chromium: with the keyboard, in
dark mode and on a phone. The test is skipped (77) without Chromium or Playwright.
"""
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

lull = sys.argv[1]


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


try:
    from playwright.sync_api import sync_playwright
except ImportError:
    skip("no playwright for this Python")
browser_path = shutil.which("chromium") or shutil.which("chromium-browser")
if not browser_path:
    skip("no chromium")


def write_clip(path, frames=6, width=96, height=64):
    """Grey YUV4MPEG2 with noise of sigma 15 over a gradient and stripes."""
    rng = random.Random(1)
    with open(path, "wb") as file:
        file.write(b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 Cmono\n" % (width, height))
        for i in range(frames):
            file.write(b"FRAME\n")
            file.write(bytes(
                min(255, max(0, round(60 + x + 40 * ((x + i) // 8 % 2) + rng.gauss(0, 15))))
                for _ in range(height) for x in range(width)))


def open_page(browser, path, **options):
    page = browser.new_page(**options)
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(pathlib.Path(path).resolve().as_uri())
    assert page.said == [], page.said
    assert [url for url in page.asked if not url.startswith(("file:", "data:"))] == [], page.asked
    assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    return page


def check_slider(page, first="before", last="removed"):
    slider = page.get_by_role("slider").first
    slider.focus()
    shown = lambda i: page.evaluate(
        "i => document.querySelectorAll('.compare')[0].querySelectorAll('.panel')[i]"
        ".style.getPropertyValue('--shown')", i)
    page.keyboard.press("Home")
    assert (shown(1), shown(2)) == ("0%", "0%"), (shown(1), shown(2))
    assert slider.get_attribute("aria-valuetext") == first
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert shown(1) == "3%", shown(1)
    page.keyboard.press("End")
    assert (shown(1), shown(2)) == ("100%", "100%")
    assert slider.get_attribute("aria-valuetext").startswith(last)
    page.keyboard.press("Tab")  # the buttons below it
    assert page.evaluate("document.activeElement.tagName") == "BUTTON"
    page.keyboard.press("Enter")
    assert slider.input_value() == "0" and shown(1) == "0%"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert (shown(1), shown(2)) == ("100%", "0%")


def check_policy(page):
    """Scripts that are injected into the page must not run."""
    page.evaluate("""() => {
      const script = document.createElement('script');
      script.textContent = 'window.ran = 1';
      document.body.append(script);
      const image = document.createElement('img');
      image.src = 'https://example.invalid/x.png';
      document.body.append(image);
    }""")
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") is None
    refused = [text for text in page.said if "Content Security Policy" in text]
    assert len(refused) == 2, page.said


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    folder = pathlib.Path(folder)
    clip, result = folder / "<b>clip & 'co'.y4m", folder / "out.y4m"
    write_clip(clip)
    quiet = ["--device", "cpu", "--profile", "fast", "-q"]
    subprocess.run([lull, "denoise", clip, result, "--sigma", "15", "--report",
                    folder / "run.html", *quiet], check=True)
    subprocess.run([lull, "compare", clip, result, "--html", folder / "compare.html"], check=True,
                   stdout=subprocess.DEVNULL)
    job = folder / "job"
    subprocess.run([lull, "plan", clip, "-o", folder / "out.mkv", "--segment-frames", "2", "--job",
                    job, *quiet], check=True)
    subprocess.run([lull, "denoise", "--job", job, "--segment", "1", "-q"], check=True)
    subprocess.run([lull, "report", job, "-q"], check=True)
    browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
    page = open_page(browser, folder / "run.html", viewport={"width": 1000, "height": 900})
    assert page.title() == "<b>clip & 'co'.y4m denoised", page.title()
    assert page.locator("h1 b").count() == 0
    check_slider(page)
    page.emulate_media(color_scheme="light")
    light = background(page)
    page.emulate_media(color_scheme="dark")
    assert background(page) != light
    assert page.said == [], page.said
    check_policy(page)
    phone = open_page(browser, folder / "run.html", viewport={"width": 360, "height": 640})
    wide = phone.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360, wide
    assert phone.get_by_role("slider").first.is_visible()
    check_slider(open_page(browser, folder / "compare.html"), "A", "A - B")
    state = open_page(browser, folder / "job.html", viewport={"width": 360, "height": 640})
    assert state.get_by_text("Missing: 0, 2").count() == 1
    assert state.evaluate("document.documentElement.scrollWidth") <= 360
    without = browser.new_context(java_script_enabled=False).new_page()
    without.goto((folder / "run.html").resolve().as_uri())
    assert without.locator(".panel img").first.is_visible()
    assert not without.get_by_role("slider").first.is_visible()
    browser.close()
print("passed")
