import { Menu, type MenuDropdownProps } from '@mantine/core'
import { useEffect, useRef } from 'react'

/** The items of a menu. */
export const MenuItems = ({ children, ...props }: MenuDropdownProps) => (
  <Menu.Dropdown {...props}>
    <FirstFocused />
    {children}
  </Menu.Dropdown>
)

/**
 * Moves the focus to the first item before the person can press a key. Mantine's focus trap does this after a timer. If
 * the person had moved on by then, it would move them back, and Enter would run the first item. The trap finds this
 * hidden element instead, which cannot take the focus.
 */
function FirstFocused() {
  const marker = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const first = marker.current?.parentElement?.querySelector<HTMLElement>('[role=menuitem]:not(:disabled)')
    // A microtask later, the menu's own effects have noted where to return the focus.
    queueMicrotask(() => first?.focus({ preventScroll: true }))
  }, [])
  return <span ref={marker} hidden data-autofocus />
}
