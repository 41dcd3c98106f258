"""The look of every page: Gradio's theme, built on the variables of assets/style.css."""

from __future__ import annotations

import gradio as gr

_FONTS = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans", "sans-serif"]

_VARIABLES = {
    "body_background_fill": "var(--agl-bg)",
    "body_text_color": "var(--agl-text)",
    "body_text_color_subdued": "var(--agl-muted)",
    "background_fill_primary": "var(--agl-surface)",
    "background_fill_secondary": "var(--agl-raised)",
    "border_color_primary": "var(--agl-line)",
    "border_color_accent": "var(--agl-accent)",
    "color_accent": "var(--agl-accent)",
    "color_accent_soft": "var(--agl-accent-soft)",
    "link_text_color": "var(--agl-accent-strong)",
    "link_text_color_hover": "var(--agl-accent)",
    "link_text_color_active": "var(--agl-accent)",
    "link_text_color_visited": "var(--agl-accent-strong)",
    "block_background_fill": "var(--agl-surface)",
    "block_border_color": "var(--agl-line)",
    "block_label_background_fill": "var(--agl-surface)",
    "block_label_text_color": "var(--agl-muted)",
    "block_title_text_color": "var(--agl-text)",
    "block_info_text_color": "var(--agl-muted)",
    "panel_background_fill": "var(--agl-surface)",
    "panel_border_color": "var(--agl-line)",
    "input_background_fill": "var(--agl-surface)",
    "input_border_color": "var(--agl-border)",
    "input_border_width": "1px",
    "input_border_color_focus": "var(--agl-accent)",
    "input_placeholder_color": "var(--agl-muted)",
    "button_primary_background_fill": "var(--agl-accent)",
    "button_primary_background_fill_hover": "var(--agl-accent-strong)",
    "button_primary_border_color": "var(--agl-accent)",
    "button_primary_text_color": "var(--agl-on-accent)",
    "button_secondary_background_fill": "var(--agl-raised)",
    "button_secondary_background_fill_hover": "var(--agl-line)",
    "button_secondary_border_color": "var(--agl-line)",
    "button_secondary_text_color": "var(--agl-text)",
    "checkbox_label_background_fill": "var(--agl-surface)",
    "checkbox_label_background_fill_selected": "var(--agl-accent-soft)",
    "checkbox_label_text_color": "var(--agl-text)",
    "checkbox_label_text_color_selected": "var(--agl-text)",
    "checkbox_background_color": "var(--agl-surface)",
    "checkbox_background_color_selected": "var(--agl-accent)",
    "checkbox_border_color": "var(--agl-muted)",
    "checkbox_border_color_selected": "var(--agl-accent)",
    "table_border_color": "var(--agl-line)",
    "table_even_background_fill": "var(--agl-surface)",
    "table_odd_background_fill": "var(--agl-raised)",
}


def theme() -> gr.themes.Base:
    """System fonts and one accent; light and dark use the same variables."""
    base = gr.themes.Base(font=_FONTS, font_mono=["ui-monospace", "monospace"], radius_size="md")
    dark = {f"{name}_dark": value for name, value in _VARIABLES.items() if name != "color_accent"}
    both = _VARIABLES | dark
    return base.set(**both, block_shadow="none", block_shadow_dark="none")
