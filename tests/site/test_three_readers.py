"""Two readers of CONTRIBUTING.md, "The book as it is read", from page to page; its controls have tests of their own."""

import pytest
from playwright.sync_api import expect
from workbench_tab import fill

WAYS = [
    {"width": 1280, "color_scheme": "light", "java_script_enabled": True},
    {"width": 360, "color_scheme": "dark", "java_script_enabled": False},
]


@pytest.mark.parametrize("how", WAYS)
def test_a_student_is_led_from_the_first_page_to_epsilon(visit, how):
    tab = visit("book/index.html", **how)
    read = []
    while not tab.url.endswith("/epsilon.html"):
        tab.locator(".neighbours").get_by_role("link", name="Next").click()
        tab.wait_for_url(lambda url: url.split("/")[-1] not in read)
        read.append(tab.url.split("/")[-1])
        expect(tab.locator("h1")).to_be_in_viewport()
        assert len(read) <= 5, read
    proof = tab.locator("details.proof-of").first
    proof.locator("summary").click()
    expect(proof.locator("p").first).to_be_visible()


@pytest.mark.parametrize("width", [1280, 360])
def test_an_engineer_comes_from_a_search_to_a_verdict(visit, width):
    tab = visit("book/index.html", width=width, color_scheme="dark")
    tab.keyboard.press("/")
    tab.get_by_role("searchbox", name="Search the book").fill("compare my layer norm output")
    tab.locator(".results a").first.click()
    tab.wait_for_url("**/workbench.html*")
    fill(tab, z="1, 2, 4", eps="1e-5", gain="", output="tensor([-0.8729, -0.2182,  1.0911])")
    expect(tab.locator("#wb-verdict-output .wb-wrong")).to_be_in_viewport()
    expect(tab.locator("#wb-verdict-output li").first).to_contain_text("the variance is divided by d - 1, not d")
