/** Trusted Types are not yet in TypeScript's DOM library. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createHTML: (text: string) => string; createScriptURL: (url: string) => string },
  ): unknown
}

/**
 * The policy for what libraries put into the page. Style sheets come as text without a tag, which is no markup; workers
 * come from this build. Anything else throws, and no script can ever be made of text.
 */
export function installTrustedTypes(): void {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  const assets = `${location.origin}/assets/`
  trustedTypes?.createPolicy('default', {
    createHTML: (text) => {
      if (text.includes('<')) throw new TypeError('markup is not put into this page as text')
      return text
    },
    createScriptURL: (url) => {
      if (!new URL(url, location.href).href.startsWith(assets)) throw new TypeError('a script from elsewhere')
      return url
    },
  })
  // For the style element that keeps the page from scrolling behind a dialog.
  Object.assign(globalThis, { __webpack_nonce__: styleNonce() })
}

/** What the server wrote into this answer, so that style elements made here are let through. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name=skerry-nonce]')?.nonce ?? ''
}
