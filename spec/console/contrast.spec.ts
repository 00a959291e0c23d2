/** Colours of the console: contrast of texts and of the borders of fields, by computation (WCAG 2.1, 1.4.3 and 1.4.11). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/tools/threads/package-root.js';

const sheet = readFileSync(join(packageRoot, 'console/src/styles/base.css'), 'utf8');
/** Custom properties of each `:root` rule: light, then dark. */
const palettes = Array.from(sheet.matchAll(/:root \{([^}]*)\}/g), ([, rule = '']) =>
  Object.fromEntries(
    Array.from(rule.matchAll(/--([\w-]+): #([0-9a-f]{3,6});/g), ([, name = '', hex = '']) => [name, channelsOf(hex)]),
  ),
);

function channelsOf(hex: string): number[] {
  const full = hex.length === 3 ? [...hex].map((digit) => digit + digit).join('') : hex;
  return [0, 2, 4].map((at) => Number.parseInt(full.slice(at, at + 2), 16) / 255);
}

/** Relative luminance. */
const luminance = (channels: readonly number[]): number => {
  const [red = 0, green = 0, blue = 0] = channels.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

function contrast(one: readonly number[], other: readonly number[]): number {
  const [less = 0, more = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (more + 0.05) / (less + 0.05);
}

describe('Colours of the console', () => {
  const grounds = ['page', 'ground', 'raised', 'pressed', 'tint', 'bad-ground', 'mark'];

  for (const [at, mode] of ['light', 'dark'].entries()) {
    const palette = palettes[at]!;
    const least = (color: string, on: readonly string[]): number =>
      Math.min(...on.map((ground) => contrast(palette[color]!, palette[ground]!)));

    it(`have a contrast of at least 4.5 for texts in ${mode} mode`, () => {
      for (const color of ['text', 'soft', 'accent', 'good', 'bad'])
        expect(least(color, grounds), color).to.be.at.least(4.5);
      expect(least('on-accent', ['accent'])).to.be.at.least(4.5);
      expect(least('good', ['good-ground'])).to.be.at.least(4.5);
      expect(least('wait', ['wait-ground'])).to.be.at.least(4.5);
    });

    it(`have a contrast of at least 3 for the borders of fields and the focus in ${mode} mode`, () => {
      expect(least('field', ['page', 'ground', 'raised', 'control'])).to.be.at.least(3);
      expect(least('accent', grounds)).to.be.at.least(3);
    });
  }
});
