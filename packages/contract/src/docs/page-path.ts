/**
 * The path of a document below `/docs/` of a server.
 *
 * @example pagePathOf('docs/guides/ci.md') // 'guides/ci/'
 * @example pagePathOf('docs/people.md#sign-in') // 'people/#sign-in'
 * @example pagePathOf('packages/sdk/README.md') // 'packages/sdk/'
 */
export const pagePathOf = (document: string): string =>
  document
    .toLowerCase()
    .replace(/^docs\//, '')
    .replace(/(^|\/)readme\.md(?=#|$)/, '$1')
    .replace(/\.md(?=#|$)/, '/')
