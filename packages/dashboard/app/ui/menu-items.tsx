import { Menu, type MenuDropdownProps } from '@mantine/core'
import { useEffect, useRef } from 'react'

/** What an open menu shows. */
export const MenuItems = ({ children, ...props }: MenuDropdownProps) => (
  <Menu.Dropdown {...props}>
    <FirstFocused />
    {children}
  </Menu.Dropdown>
)

/**
 * Moves the focus to the first item before a key can be pressed. The toolkit's focus trap does that after a timer: a
 * person who had gone on to another item by then would be taken back, and Enter would do what the first item does. The
 * trap finds the hidden element instead, which does not take the focus.
 */
function FirstFocused() {
  const marker = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const first = marker.current?.parentElement?.querySelector<HTMLElement>('[role=menuitem]:not(:disabled)')
    // The effects of the menu around it have run by then: they note where the focus goes back to.
    queueMicrotask(() => first?.focus({ preventScroll: true }))
  }, [])
  return <span ref={marker} hidden data-autofocus />
}
