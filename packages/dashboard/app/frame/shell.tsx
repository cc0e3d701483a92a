import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { isCovered } from '../ui/layer.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { FrameContext } from './frame-context.ts'
import { Sidebar } from './sidebar.tsx'

// The palette, the shortcuts and the toasts load separately, so that the page appears sooner.
const Palette = lazy(async () => ({ default: (await import('../palette/palette.tsx')).Palette }))
const Shortcuts = lazy(async () => ({ default: (await import('./shortcuts.tsx')).Shortcuts }))
const Toasts = lazy(async () => ({ default: (await import('../ui/toasts.tsx')).Toasts }))

/** The frame around every page: the sidebar, the palette and the toasts. */
export function Shell() {
  const [isNavOpen, { open, close }] = useDisclosure()
  const opener = useRef<Element>(null)
  const [search, setSearch] = useState(0)
  const frame = useMemo(() => {
    // The palette does not open over a dialog, because it would lead away from unsaved input.
    const find = () => isCovered() || setSearch((count) => count + 1)
    const openNav = () => {
      opener.current = document.activeElement
      open()
    }
    return { find, openNav }
  }, [open])
  useEffect(() => {
    if (isNavOpen) return () => returnTo(opener.current)
  }, [isNavOpen])
  const shortcuts = useDialog()
  useHotkeys([['mod + K', frame.find]], [])
  // A person who types a question mark into a field wants no help.
  useHotkeys([['shift + ?', () => isCovered() || shortcuts.open()]])
  return (
    <FrameContext value={frame}>
      <div className="frame">
        <Sidebar isOpen={isNavOpen} onClose={close} />
        <main className="main" inert={isNavOpen}>
          <Outlet />
        </main>
      </div>
      <Suspense>
        {shortcuts.show((onClose) => (
          <Shortcuts onClose={onClose} />
        ))}
      </Suspense>
      <Suspense>{search > 0 && <Palette asked={search} />}</Suspense>
      <Suspense>
        <Toasts />
      </Suspense>
    </FrameContext>
  )
}

/** Returns the focus to the button that opened the navigation, if its page is still there. */
function returnTo(opener: Element | null): void {
  if (opener instanceof HTMLElement) opener.focus()
}
