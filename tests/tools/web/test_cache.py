from clew.tools.web.cache import RecentCache


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_value_is_kept_for_its_time():
    clock = Clock()
    cache = RecentCache(2, 10, clock)
    cache.put("a", 1)
    clock.now = 9.9
    assert cache.get("a") == 1
    clock.now = 10
    assert cache.get("a") is None


def test_the_value_that_was_not_used_for_longest_goes_first():
    cache = RecentCache(2, 10, Clock())
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]


def test_nothing_is_kept_for_no_time():
    cache = RecentCache(2, 0, Clock())
    cache.put("a", 1)
    assert cache.get("a") is None
