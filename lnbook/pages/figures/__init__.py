"""One function per figure of the book; each returns a matplotlib Figure or a Slider. Only here is matplotlib used.

The file is named after the page that shows the figure.
"""

from lnbook.pages.figures.attention_and_expressivity import keys_that_can_win, sigmoid_and_tanh
from lnbook.pages.figures.backward_pass import returned_gradient, summed_ones
from lnbook.pages.figures.batch_norm_or_layer_norm import one_sample_many_batches, what_a_token_sees
from lnbook.pages.figures.bias import shift_before_and_after
from lnbook.pages.figures.conventions import defaults_over_spread
from lnbook.pages.figures.epsilon import core_variance, epsilon_family, epsilon_slider, variance_slider
from lnbook.pages.figures.every_page import where
from lnbook.pages.figures.floating_point import error_over_offset, offset_slider, stored_after_shift
from lnbook.pages.figures.gain import gain_and_bias, gain_bias_slider
from lnbook.pages.figures.geometry import bowl, disc_into_ellipse, plane_into_disc
from lnbook.pages.figures.in_a_deep_network import stream_and_gradient
from lnbook.pages.figures.in_production import outlier_codes, padded_core
from lnbook.pages.figures.index import steps
from lnbook.pages.figures.jacobian import direction_slider, eigen_directions, finite_step
from lnbook.pages.figures.layer_normalization import one_entry_slider, positions
from lnbook.pages.figures.neighbours import shared_statistics
from lnbook.pages.figures.prerequisites import circle_to_ellipse, projection_of_a_pair
from lnbook.pages.figures.sensitivity import amplification_over_distance, distance_slider
from lnbook.pages.figures.sharp_bounds import (
    constants_over_dimension,
    gain_polynomial,
    norm_over_bound,
    trust_radius,
)
from lnbook.pages.figures.shift_invariance import common_and_unequal_shift, shift_slider
from lnbook.pages.figures.why_it_works import length_of_weights, step_over_scale

__all__ = [
    "amplification_over_distance",
    "bowl",
    "circle_to_ellipse",
    "common_and_unequal_shift",
    "constants_over_dimension",
    "core_variance",
    "defaults_over_spread",
    "direction_slider",
    "disc_into_ellipse",
    "distance_slider",
    "eigen_directions",
    "epsilon_family",
    "epsilon_slider",
    "error_over_offset",
    "finite_step",
    "gain_and_bias",
    "gain_bias_slider",
    "gain_polynomial",
    "keys_that_can_win",
    "length_of_weights",
    "norm_over_bound",
    "offset_slider",
    "one_entry_slider",
    "one_sample_many_batches",
    "outlier_codes",
    "padded_core",
    "plane_into_disc",
    "positions",
    "projection_of_a_pair",
    "returned_gradient",
    "shared_statistics",
    "shift_before_and_after",
    "shift_slider",
    "sigmoid_and_tanh",
    "step_over_scale",
    "steps",
    "stored_after_shift",
    "stream_and_gradient",
    "summed_ones",
    "trust_radius",
    "variance_slider",
    "what_a_token_sees",
    "where",
]
