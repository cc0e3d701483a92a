import type { ManageSession } from './server.ts'

type Display = ManageSession['display']

/** Shows the product's name and picture. The picture must be a data URL, so that nothing is loaded from elsewhere. */
export function Brand({ display }: { display: Display }) {
  const { name, logoUrl } = display
  return (
    <header>
      {logoUrl?.startsWith('data:image/') ? (
        <img src={logoUrl} alt="" width="40" height="40" />
      ) : (
        <span class="monogram" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
      )}
      <span>{name}</span>
    </header>
  )
}

/** Applies the product's color, with black or white text on it, whichever has more contrast. */
export function applyAccent(accent: string | null): void {
  if (accent === null || !/^#[0-9a-f]{6}$/i.test(accent)) return
  const { style } = document.documentElement
  style.setProperty('--accent', accent)
  style.setProperty('--on-accent', luminance(accent) > 0.179 ? '#000' : '#fff')
}

/** Relative luminance (WCAG 2.2). Above 0.179, black has more contrast than white. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
