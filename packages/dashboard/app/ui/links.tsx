import { Anchor, type AnchorProps, Menu, type MenuItemProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'

// Mantine's components as links of the router, so that `to`, `params` and `search` are checked against the routes. The
// props of an `a` include what the router adds for the browser (`href`, `onClick` and so on).

type Of<P> = P & Omit<ComponentProps<'a'>, keyof P>

/** A link within text. */
export const AnchorLink = createLink((props: Of<AnchorProps>) => <Anchor {...props} />)

/** A menu entry that links to a page. */
export const MenuLink = createLink((props: Of<MenuItemProps>) => <Menu.Item component="a" {...props} />)
