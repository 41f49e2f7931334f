/* SPDX-License-Identifier: MIT
 *
 * Survival curves as SVG (faults.h): steps over a logarithmic axis of executions or seconds.
 */
#include "cli/faults/faults.h"
#include "pictures/escape.h"

#include <math.h>
#include <string.h>

enum { LEFT = 44, RIGHT = 12, TOP = 26, BOTTOM = 30, COLOURS = 8, LEGEND = 15 };

static const char *const colours[COLOURS] = {"#1b6ca8", "#c0392b", "#27823a", "#8e5ea2",
                                             "#d08a1d", "#5f6b73", "#16888a", "#a0522d"};

struct frame {
    double width, height, last;
};

static double x_of(const struct frame *f, double at) {
    double room = f->width - LEFT - RIGHT, part = log10(at < 1 ? 1 : at) / log10(f->last);
    return LEFT + room * (part > 1 ? 1 : part);
}
static double y_of(const struct frame *f, double left) {
    return TOP + (f->height - TOP - BOTTOM) * (1 - left);
}

static void put_axes(FILE *out, const struct frame *f) {
    static const double marks[] = {0, 0.25, 0.5, 0.75, 1};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        fprintf(out,
                "<line class=\"grid\" x1=\"%d\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/><text "
                "class=\"y\" x=\"%d\" y=\"%.1f\">%.0f %%</text>\n",
                LEFT, f->width - RIGHT, y_of(f, marks[i]), y_of(f, marks[i]), LEFT - 5,
                y_of(f, marks[i]) + 4, 100 * marks[i]);
    for (int power = 0; pow(10, power) <= f->last * 1.001; power++)
        fprintf(out,
                "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/><text "
                "class=\"x\" x=\"%.1f\" y=\"%.1f\">10<tspan dy=\"-5\" "
                "font-size=\"8\">%d</tspan></text>\n",
                x_of(f, pow(10, power)), x_of(f, pow(10, power)), TOP, f->height - BOTTOM,
                x_of(f, pow(10, power)), f->height - BOTTOM + 16, power);
}

static void put_curve(FILE *out, const struct frame *f, const struct curve *c, const char *colour) {
    double left = 1;
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" d=\"M%d %.1f", colour,
            LEFT, y_of(f, 1));
    for (unsigned i = 0; i < c->n; i++) {
        fprintf(out, "L%.1f %.1fL%.1f %.1f", x_of(f, c->steps[i].at), y_of(f, left),
                x_of(f, c->steps[i].at), y_of(f, c->steps[i].left));
        left = c->steps[i].left;
    }
    /* a curve that has come down to nothing ends there */
    if (left > 0)
        fprintf(out, "L%.1f %.1f", f->width - RIGHT, y_of(f, left));
    fputs("\"/>\n", out);
}

void put_curves(FILE *out, const char *title, const struct curve *curves, unsigned n, double last,
                unsigned width, unsigned height) {
    struct frame f = {width, height, last > 10 ? last : 10};
    fprintf(out, "<svg viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\" role=\"img\"><title>",
            width, height, width, height);
    put_html(out, title, strlen(title));
    fprintf(out, "</title><text class=\"title\" x=\"%d\" y=\"16\">", LEFT);
    put_html(out, title, strlen(title));
    fputs("</text>\n", out);
    put_axes(out, &f);
    for (unsigned i = 0; i < n; i++)
        put_curve(out, &f, &curves[i], colours[i % COLOURS]);
    for (unsigned i = 0; i < n && n > 1; i++) {
        fprintf(out, "<text class=\"legend\" x=\"%.1f\" y=\"%u\" style=\"fill:%s\">",
                f.width - RIGHT - 6, TOP + 14 + LEGEND * i, colours[i % COLOURS]);
        put_html(out, curves[i].label, strlen(curves[i].label));
        fputs("</text>\n", out);
    }
    fputs("</svg>\n", out);
}
