/** Trusted Types are not yet in TypeScript's DOM library. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createHTML: (text: string) => string; createScriptURL: (url: string) => string },
  ): unknown
}

/**
 * Installs the Trusted Types policy for libraries that change the page. Style sheets pass, because they are text
 * without a tag. Worker scripts pass if they are from this build. Anything else throws, and text can never become a
 * script.
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
  // Mantine reads this nonce for the style element that stops the page from scrolling behind a dialog.
  Object.assign(globalThis, { __webpack_nonce__: styleNonce() })
}

/**
 * Returns the nonce that the server wrote into this page. The content security policy allows style elements with it.
 */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name=skerry-nonce]')?.nonce ?? ''
}
