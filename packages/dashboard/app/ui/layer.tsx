// Its listener for keys has to be there before the one below, which may cancel a question.
import '../prompts.ts'
import { useEffect, useRef } from 'react'

// What lies over the page, the uppermost last: Escape is for that one alone, and when it ends the focus goes back to where
// it was. The toolkit does either only for a dialog that is there, closed, before it opens.

const layers: { current: () => void }[] = []

/** Where the focus was lately, the latest last. What opened a dialog may be gone by its end, as the entries of menus are. */
const trail: HTMLElement[] = []
const trailMax = 16

addEventListener('focusin', ({ target }) => {
  if (!(target instanceof HTMLElement)) return
  const was = trail.indexOf(target)
  if (was >= 0) trail.splice(was, 1)
  trail.push(target)
  if (trail.length > trailMax) trail.shift()
})

addEventListener(
  'keydown',
  ({ key, isComposing, target }) => {
    if (key !== 'Escape' || isComposing) return
    // The open list of a field closes first.
    if (target instanceof Element && target.getAttribute('data-mantine-stop-propagation') === 'true') return
    layers.at(-1)?.current()
  },
  { capture: true },
)

/** Whether a dialog lies over the page. */
export const isCovered = () => layers.length > 0

/** In a dialog, for as long as that is open. */
export function Layer({ onEscape }: { onEscape: () => void }) {
  const marker = useRef<HTMLSpanElement>(null)
  const latest = useRef(onEscape)
  latest.current = onEscape
  useEffect(() => {
    const dialog = marker.current?.closest('[role=dialog]')
    layers.push(latest)
    return () => {
      layers.splice(layers.indexOf(latest), 1)
      setTimeout(() => returnFocus(dialog))
    }
  }, [])
  return <span ref={marker} hidden />
}

/** Unless it is elsewhere by now. A dialog that closes may still be seen for a moment. */
function returnFocus(closed: Element | null | undefined): void {
  const at = document.activeElement
  if (at && at !== document.body && !closed?.contains(at)) return
  trail.findLast((one) => one.isConnected && !closed?.contains(one))?.focus({ preventScroll: true })
}
