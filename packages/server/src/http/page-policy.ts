/** Headers for every answer that a browser uses as a page or as a part of one. */
export const always = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Links carry tokens after a #, which browsers do not send in a Referer. Paths may name organizations.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Content-Security-Policy in one line. */
export const policy = (directives: Record<string, string>) =>
  Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ')
