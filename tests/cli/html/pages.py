#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Looks at the pages of isoheap show --html in headless Chromium: pages.py FOLDER (html_test.sh).

Structure is compared, not pixels.
"""
import json
import re
import sys
import unittest
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

FOLDER = Path(sys.argv[1])
ALL = ["subject", "reference", "model"]


def start():
    options = Options()
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                 "--disable-background-networking", "--window-size=1300,900",
                 f"--user-data-dir={FOLDER}/profile"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = start()

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()

    def setUp(self):
        self.screen(1300, 900)
        self.colours("light")

    # ---- helpers

    def cdp(self, command, **arguments):
        return self.browser.execute_cdp_cmd(command, arguments)

    def screen(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 700)

    def colours(self, scheme):
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def load(self, name):
        self.browser.get_log("performance")
        self.browser.get_log("browser")
        self.browser.get((FOLDER / f"{name}.html").as_uri())
        self.assertEqual(self.browser.get_log("browser"), [], f"{name}: console")
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                self.assertTrue(url.startswith(("file://", "data:")), f"{name}: request of {url}")

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def names(self, selector):
        return set(self.browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.dataset.name || null)", selector))

    def picture(self, party, moment, kind):
        return f'.party[data-party="{party}"] figure.{moment} svg.{kind}'

    def step(self):
        return int(self.one("#slider").get_property("value"))

    def current(self):
        return [e.get_attribute("data-op") for e in self.all("#program .current")]

    def press(self, key):
        webdriver.ActionChains(self.browser).send_keys(key).perform()

    # ---- structure

    def test_every_page_has_all_parties_before_and_after(self):
        for name, parties in (("lost", ALL), ("edge", ALL), ("sharing", ALL), ("states", ALL),
                              ("alone", ["subject", "model"])):
            with self.subTest(page=name):
                self.load(name)
                self.assertEqual([e.get_attribute("data-party") for e in self.all(".party")], parties)
                for party in parties:
                    for moment in ("before", "after"):
                        for kind in ("graph", "map"):
                            self.assertEqual(len(self.all(self.picture(party, moment, kind))), 1)

    def test_verdict_and_replay(self):
        self.load("lost")
        self.assertEqual(self.one("h1").text, "lost_object")
        facts = self.one(".facts").text
        for text in ("subject (bad_infix_root)", "0: full", "r0", "an infix pointer to field 3 of b0",
                     "where no live block is"):
            self.assertIn(text, facts)
        self.assertRegex(self.one("#replay").text,
                         r"^isoheap run --collector bad_infix_root --reference cheney .*bad_infix_root.txt$")
        self.assertEqual([e.get_attribute("data-party") for e in self.all(".party.guilty")], ["subject"])
        self.assertIn("2 places differ", self.one('.party[data-party="subject"] .compared').text)
        self.assertIn("as in the model", self.one('.party[data-party="reference"] .compared').text)

    def test_path_is_marked_in_graph_and_map(self):
        for name in ("lost", "edge", "sharing"):
            with self.subTest(page=name):
                self.load(name)
                for party in ALL:
                    for moment in ("before", "after"):
                        graph = self.picture(party, moment, "graph")
                        marked = self.names(f"{graph} .block.on-path")
                        if name == "lost" and party == "subject" and moment == "after":
                            self.assertEqual(self.names(f"{graph} .ghost.on-path"), {"b0"})
                            self.assertEqual(len(self.all(f"{self.picture(party, moment, 'map')} .lost.on-path")), 1)
                            continue
                        self.assertTrue(marked)
                        self.assertEqual(marked, self.names(f"{self.picture(party, moment, 'map')} .extent.on-path"))
                        self.assertTrue(self.all(f"{graph} .edge.on-path"))
                        self.assertTrue(self.all(f"{graph} .root.on-path"))

    def test_the_map_goes_on_with_the_young_generation(self):
        for name, remembered in (("young", ["1"]), ("hole", [])):
            with self.subTest(page=name):
                self.load(name)
                after = self.picture("subject", "after", "map")
                self.assertEqual([e.get_attribute("data-at") for e in self.all(f"{after} .border")], ["256"])
                young = [e for e in self.all(f"{after} .extent") if int(e.get_attribute("data-at")) >= 256]
                self.assertIn("n0", [e.get_attribute("data-name") for e in young])
                for kind in ("map", "graph"):
                    self.assertEqual(len(self.all(f"{self.picture('subject', 'after', kind)} .remembered")), len(remembered))
                self.assertEqual([e.get_attribute("data-field") for e in self.all(f"{after} .remembered")], remembered)
                self.assertEqual(self.all(f"{self.picture('reference', 'after', 'map')} .border"), [])
        self.assertTrue(self.all(".legend .border"))

    def test_an_empty_heap(self):
        self.load("worn")
        self.assertIn("checks after the script", self.one("#where").text)
        for party in ALL:
            self.assertIn("No block", self.one(f'.party[data-party="{party}"] figure.after .absence').text)
            self.assertTrue(self.all(self.picture(party, "after", "map")))

    def test_one_block_became_two(self):
        self.load("sharing")
        graph = self.picture("subject", "after", "graph")
        self.assertEqual(self.names(f"{graph} .block"), {"b0", "b0#2"})
        self.assertEqual(self.names(f"{self.picture('reference', 'after', 'graph')} .block"), {"b0"})

    def test_a_crash_shows_the_states_until_then(self):
        for name, title in (("crash", "sanitizer"), ("hang", "no_progress")):
            with self.subTest(page=name):
                self.load(name)
                self.assertEqual(self.one("h1").text, title)
                self.assertTrue(self.all(self.picture("subject", "before", "graph")))
        self.load("crash")
        self.assertFalse(self.all(self.picture("subject", "after", "graph")))
        self.assertIn("the run ended", self.one(".guilty figure.after .absence").text)
        self.assertEqual(self.one("#slider").get_attribute("max"), "3")
        self.press(Keys.ARROW_LEFT)
        self.assertTrue(self.all(self.picture("subject", "after", "graph")))

    def test_names_are_those_of_the_program(self):
        self.load("states")
        text = (FOLDER / "states.txt").read_text()
        declared = set(re.findall(r"^ *(?:static )?(b\d+) =", text, re.M))
        self.press(Keys.HOME)
        self.assertEqual(self.names("#program .name"), declared)
        for party in ALL:
            for kind in ("graph .block", "map .extent"):
                got = self.names(self.picture(party, "after", kind)) - {None}
                self.assertEqual(got, declared, f"{party} {kind}")
        roots = set(re.findall(r"^ *(r\d+) = b", text, re.M))
        self.assertEqual(self.names(self.picture("subject", "after", "graph") + " .root"), roots)
        self.press(Keys.END)
        for party in ALL:
            names = self.names(self.picture(party, "after", "graph .block"))
            self.assertEqual({n for n in names if n[0] == "n"}, {"n0", "n4"} | {n for n in names if ":" in n})
            self.assertNotIn("differ", self.one(f'.party[data-party="{party}"] .compared').text)

    def test_hostile_names_are_text(self):
        self.load("hostile")
        self.assertTrue(self.one(".file").text.endswith("a<b>&\"'.txt"))
        self.assertIn("a<b>&\"'.txt", self.browser.title)

    # ---- states

    def test_slider_buttons_and_keys(self):
        self.load("states")
        last = int(self.one("#slider").get_attribute("max"))
        self.assertEqual(last, 5)
        self.assertEqual((self.step(), self.current()), (5, ["4"]))
        self.press(Keys.HOME)
        self.assertEqual((self.step(), self.current()), (0, []))
        self.assertIn("initial heap", self.one("#where").text)
        self.press(Keys.ARROW_RIGHT)
        self.assertEqual((self.step(), self.current()), (1, ["0"]))
        self.assertIn("n0", self.names(self.picture("model", "after", "graph .block")))
        self.assertNotIn("n0", self.names(self.picture("model", "before", "graph .block")))
        self.one("#next").click()
        self.assertEqual(self.current(), ["1"])
        self.assertIn("b2", self.names(self.picture("subject", "after", "graph .unreachable")))
        self.assertIn("b2", self.names(self.picture("subject", "after", "map .unreachable")))
        self.one("#previous").click()
        self.assertEqual(self.current(), ["0"])
        self.one("#last").click()
        self.assertEqual(self.step(), last)
        self.assertFalse(self.one("#next").is_enabled())
        self.one("#first").click()
        self.one("#slider").send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.step(), 1)
        self.one('#program .op[data-op="3"] button').click()
        self.assertEqual((self.step(), self.current()), (4, ["3"]))
        self.assertNotIn("b2", self.names(self.picture("subject", "after", "map .extent")))
        self.browser.execute_script("slider.value = 2; slider.dispatchEvent(new Event('input'))")
        self.assertEqual(self.current(), ["1"])
        self.assertIn("operation 1", self.one("#slider").get_attribute("aria-valuetext").lower())

    def test_switches_of_threads_are_marked(self):
        self.load("threads")
        marks = self.all("#program .op .switches")
        self.assertGreater(len(marks), 3)
        first = marks[0].get_attribute("title")
        self.assertRegex(first, r"^\d+ switch(es)?: thread \d+ at \d+")
        self.assertEqual(marks[0].text.split()[-1], first.split()[0])
        self.press(Keys.HOME)
        self.assertNotIn("switch", self.one("#where").text)
        self.press(Keys.ARROW_RIGHT)
        self.assertIn(first, self.one("#where").text)
        self.load("states")
        self.assertEqual(self.all("#program .switches"), [])

    def test_a_name_lights_up_everywhere(self):
        self.load("states")
        self.press(Keys.HOME)
        self.one('#program .name[data-name="b1"]').click()
        for party in ALL:
            for kind in ("graph", "map"):
                self.assertEqual(self.names(self.picture(party, "after", f"{kind} .selected")), {"b1"})
        self.press(Keys.ESCAPE)
        self.assertFalse(self.all(".selected"))
        self.browser.execute_script("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))",
                                    self.one(self.picture("subject", "after", "map .free")))
        self.assertIn("free", self.one("#detail").text)

    def test_table(self):
        self.load("states")
        self.press(Keys.HOME)
        self.one(".party figure.after summary").click()
        rows = self.browser.execute_script(
            "return new Promise(r => requestAnimationFrame(() => setTimeout(() => r("
            "[...document.querySelectorAll('.party figure.after tbody tr')].map(t => t.textContent)), 50)))")
        self.assertEqual(len(rows), 5)
        self.assertTrue(rows[0].startswith("b0words 0 to 2tag 0whitereachable"))

    # ---- looks

    def luminance(self, colour):
        parts = [int(float(c)) / 255 for c in re.findall(r"[\d.]+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(self, ink, ground):
        values = self.browser.execute_script(
            "const probe = document.body.appendChild(document.createElement('i'));"
            "const of = name => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };"
            "const both = arguments[0].map(of); probe.remove(); return both;", [ink, ground])
        light, dark = sorted((self.luminance(v) for v in values), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    def test_dark_and_light_are_readable(self):
        grounds = []
        for scheme in ("light", "dark"):
            self.colours(scheme)
            self.load("lost")
            grounds.append(self.luminance(self.one("body").value_of_css_property("background-color")))
            for ink in ("ink", "muted", "red", "green", "accent"):
                for ground in ("paper", "card", "soft"):
                    self.assertGreaterEqual(self.contrast(ink, ground), 4.5, f"{scheme}: {ink} on {ground}")
            for ink, ground in (("live-ink", "live"), ("ink", "red-soft"), ("ink", "amber-soft"), ("paper", "ink"),
                                ("ink", "accent-soft"), ("card", "accent"), ("muted", "accent-soft")):
                self.assertGreaterEqual(self.contrast(ink, ground), 4.5, f"{scheme}: {ink} on {ground}")
        self.assertGreater(grounds[0], 0.8)
        self.assertLess(grounds[1], 0.1)
        self.one("#theme").click()
        self.assertGreater(self.luminance(self.one("body").value_of_css_property("background-color")), 0.8)

    def test_a_phone_needs_no_sideways_scrolling(self):
        self.screen(360, 740)
        for name in ("lost", "sharing", "crash", "states", "hostile"):
            with self.subTest(page=name):
                self.load(name)
                self.assertLessEqual(
                    self.browser.execute_script("return document.documentElement.scrollWidth"), 360)
        for button in self.all(".controls button"):
            self.assertGreaterEqual(button.size["height"], 40)

    def test_names_and_roles(self):
        self.load("states")
        nameless = self.browser.execute_script(
            "return [...document.querySelectorAll('button, input, [role=region], svg[role=img], nav, section')]"
            ".filter(e => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim()))"
            ".map(e => e.outerHTML.slice(0, 80))")
        self.assertEqual(nameless, [])
        self.press(Keys.TAB)
        self.assertEqual(self.browser.switch_to.active_element.text, "To the heaps")
        self.press(Keys.TAB)
        outline = self.browser.switch_to.active_element.value_of_css_property("outline-style")
        self.assertNotEqual(outline, "none")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
